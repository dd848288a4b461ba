// SPDX-License-Identifier: Apache-2.0
#include "builder/row-source.h"

#include <stdlib.h>
#include <string.h>

#include "builder/server-answer.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "builder/missing/missing-json.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/results/results.h"
#include "lib/state/store/retired.h"
#include "lib/view/site-check.h"

struct row_source {
	const char *name; // of the platform
	const struct rebuild_set *rebuild;
	// A server.
	const char *base; // NULL: our own store
	struct fetch *fetch;
	// Our own store.
	const struct config *config;
	struct store store;
	struct catalog *catalog;
	struct results *results;
	const struct platform *platform;
};

struct row_source *row_source_of_server(const char *base, const char *platform, const struct rebuild_set *rebuild,
	const struct fetch_options *options)
{
	struct row_source *s = xcalloc(1, sizeof(*s));
	*s = (struct row_source){.name = platform, .rebuild = rebuild, .base = base, .fetch = fetch_new(options)};
	return s;
}

static int open_own_results(struct row_source *s, const char *path, struct err *e)
{
	struct err why = ERR_INIT;
	if (results_open_read(path, &s->results, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

static int open_own_store(struct row_source *s, const char *catalog, const char *results, struct err *e)
{
	if (store_open(s->config, STORE_PATIENT, &s->store, e) < 0)
		return -1;
	if (catalog_open(catalog, &s->catalog, e) < 0 || site_check_register(s->config, &s->store, s->catalog, e) < 0 ||
		open_own_results(s, results, e) < 0)
		return -1;
	retired_look(&s->store);
	s->platform = store_platform_named(&s->store, str_from(s->name));
	return s->platform ? 0 : store_refuse_platform(&s->store, s->name, ERR_USAGE, e);
}

int row_source_of_store(const struct config *config, const char *catalog, const char *results, const char *platform,
	const struct rebuild_set *rebuild, struct row_source **out, struct err *e)
{
	CLEANUP(row_source_cleanup) struct row_source *s = xcalloc(1, sizeof(*s));
	s->name = platform;
	s->config = config;
	s->rebuild = rebuild;
	if (open_own_store(s, catalog, results, e) < 0)
		return -1;
	*out = STEAL_PTR(s);
	return 0;
}

void row_source_close(struct row_source *s)
{
	if (!s)
		return;
	fetch_free(s->fetch);
	results_close(s->results);
	catalog_cleanup(&s->catalog);
	store_release(&s->store);
	free(s);
}

void row_source_cleanup(struct row_source **s)
{
	row_source_close(*s);
}

// What is to be rebuilt is sent along.
static int post_rebuilds(struct row_source *s, const char *url, const char *project, struct fetch_answer *a,
	struct err *e)
{
	static const char *const headers[] = {"Accept: application/json", "Content-Type: application/json", NULL};
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, SIZE_MAX / 2);
	if (rebuild_set_write(s->rebuild, s->name, project, &body, e) < 0)
		return err_prefix(e, "--rebuild: ");
	return fetch_post_body(s->fetch, url, headers, buf_view(&body), a, e);
}

static int ask_server(struct row_source *s, const char *python, const char *project, struct missing *out, struct err *e)
{
	static const char *const headers[] = {"Accept: application/json", "Cache-Control: no-cache", NULL};
	CLEANUP(mem_free)
	char *url = xasprintf("%s-/missing/%s?format=json%s%s%s%s", s->base, s->name, python ? "&python=" : "",
		python ? python : "", project ? "&project=" : "", project ? project : "");
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_MISSING);
	int asked = s->rebuild ? post_rebuilds(s, url, project, &a, e) : fetch_get(s->fetch, url, headers, &a, e);
	if (asked < 0 || server_answer_check(&a, url, e) < 0)
		return -1;
	return missing_json_read(buf_view(&a.body), out, e) < 0 ? err_prefix(e, "%s: ", url) : 0;
}

static int ask_store(struct row_source *s, const char *python, const char *project, struct missing *out, struct err *e)
{
	const char *const platforms[] = {s->name};
	const struct missing_options options = {
		.platform = platforms, .platforms = 1, .python = python, .project = project, .rebuild = s->rebuild};
	return missing_make(s->config, &s->store, s->catalog, s->results, &options, out, e);
}

int row_source_list(struct row_source *s, const char *python, const char *project, struct missing *out, struct err *e)
{
	return s->base ? ask_server(s, python, project, out, e) : ask_store(s, python, project, out, e);
}

const struct platform *row_source_platform(const struct row_source *s)
{
	return s->platform;
}

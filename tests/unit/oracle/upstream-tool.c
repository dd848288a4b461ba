// SPDX-License-Identifier: Apache-2.0
// Requests projects from an upstream for test-upstream.py: upstream-tool CONFIG CATALOG look|recall|first PROJECT…
// It prints a line of JSON for each project. `recall` reads the saved results; `first` stops at the first answer.
#include <stdio.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/format/jsondoc.h"
#include "lib/state/upstream/upstream.h"

static void put_page(struct jsondoc *doc, const char *key, const struct simplepage *page)
{
	struct jsondoc *files = jsondoc_object();
	for (size_t i = 0; page && i < page->files; i++)
		jsondoc_put_str(files, page->file[i].filename, page->file[i].url);
	if (page)
		jsondoc_put(doc, key, files);
	else
		jsondoc_cleanup(&files);
}

static int print_answer(void *ctx UNUSED, const struct upstream_answer *a, struct err *e UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_put_str(doc, "project", a->project);
	jsondoc_put_str(doc, "result", upstream_result_name[a->result]);
	jsondoc_put_str(doc, "standing", upstream_result_name[a->last_definitive]);
	jsondoc_put_str(doc, "index", a->index);
	jsondoc_put_str(doc, "why", a->why);
	if (a->etag)
		jsondoc_put_str(doc, "etag", a->etag);
	jsondoc_put_int(doc, "asked", a->asked);
	jsondoc_put_int(doc, "fetched", a->fetched);
	jsondoc_put_int(doc, "max-age", a->max_age);
	jsondoc_put_bool(doc, "changed", a->is_changed);
	put_page(doc, "page", a->page);
	put_page(doc, "stale", a->stale);
	jsondoc_write(doc, 0, &text);
	fputs(text.data, stdout);
	return 0;
}

static int stop_at_first(void *ctx UNUSED, const struct upstream_answer *a UNUSED, struct err *e)
{
	return err_set(e, ERR_INVALID, "enough");
}

static int print_cached(struct upstreams *u, struct catalog *c, const char *const *projects, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (upstream_load_cached(u, c, projects[i], print_answer, NULL, e) < 0)
			return -1;
	return 0;
}

static int run_command(int argc, char **argv, struct err *e)
{
	CLEANUP(config_release) struct config config;
	CLEANUP(upstreams_cleanup) struct upstreams *u = NULL;
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	config_init(&config);
	if (config_read(&config, argv[1], e) < 0 || upstreams_new(&config, &u, e) < 0 ||
		catalog_open(argv[2], &c, e) < 0)
		return -1;
	const char *const *projects = (const char *const *)argv + 4;
	size_t count = (size_t)argc - 4;
	if (strcmp(argv[3], "recall") == 0)
		return print_cached(u, c, projects, count, e);
	bool is_first = strcmp(argv[3], "first") == 0;
	return upstream_lookup(u, c, projects, count, is_first ? stop_at_first : print_answer, NULL, e);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	if (argc > 3 && run_command(argc, argv, &e) == 0)
		return 0;
	fprintf(stderr, "%s\n", e.msg);
	return 1;
}

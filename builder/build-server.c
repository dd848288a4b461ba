// SPDX-License-Identifier: Apache-2.0
#include "builder/build-server.h"

#include <stdlib.h>
#include <string.h>

#include "auditor/rebuild/rebuild-set.h"
#include "builder/missing/missing-json.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/base/strset.h"
#include "lib/format/jsondoc.h"
#include "lib/net/url.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/store.h"
#include "lib/state/results/results-json.h"
#include "lib/state/store/retired.h"
#include "lib/view/site-check.h"

enum { REASON_MOST = 300 };

static enum err_kind kind_of_status(unsigned status)
{
	static const struct {
		unsigned first, last;
		enum err_kind kind;
	} row[] = {
		{400, 400, ERR_USAGE},
		{401, 401, ERR_DENIED},
		{403, 403, ERR_DENIED},
		{404, 405, ERR_NOT_FOUND},
		{408, 408, ERR_NET},
		{429, 429, ERR_NET},
		{500, 599, ERR_NET},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (status >= row[i].first && status <= row[i].last)
			return row[i].kind;
	return ERR_INVALID;
}

int server_answer_check(const struct fetch_answer *a, const char *url, struct err *e)
{
	if (a->status / 100 == 2)
		return 0;
	CLEANUP(buf_release) struct buf reason = buf_up_to(REASON_MOST);
	// The first line of the server's reason, without control characters.
	struct err ignored = ERR_INIT;
	struct str type = fetch_header(a, "content-type"), text = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	if (str_starts(type, STR("application/json")))
		doc = jsondoc_read_bounded(buf_view(&a->body), LIMIT_CLIENT_VALUES, &ignored);
	const char *message = doc ? jsondoc_get_str(doc, "message") : NULL;
	if (message)
		text = str_from(message);
	else if (str_starts(type, STR("text/plain")))
		text = str_trim(buf_view(&a->body));
	struct str line = str_head(str_cut(&text, '\n'), REASON_MOST);
	for (size_t i = 0; str_is_utf8(line) && i < line.len; i++)
		buf_putc(&reason, line.ptr[i] >= 0 && line.ptr[i] < ' ' ? '?' : line.ptr[i]);
	CLEANUP(mem_free) char *number = xasprintf("%u ", a->status);
	if (str_starts(buf_view(&reason), str_from(number))) // the server's reason begins with the status itself
		return err_set(e, kind_of_status(a->status), "%s: %s", url, reason.data);
	return err_set(e, kind_of_status(a->status), "%s: %u%s%s", url, a->status, reason.len ? ": " : "", reason.data);
}

char *server_answer_base(const char *url, const char *option, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	if (fetch_url_parse(url, &parts, e) < 0) {
		err_prefix(e, "--%s: ", option);
		return NULL;
	}
	char *base = parts.user || parts.password ? NULL : url_base(str_from(url));
	if (!base)
		err_set(e, ERR_USAGE,
			parts.user ? "--%s: the URL has a user name, which every user of this machine can read: use "
				     "WHEELCACHE_TOKEN or a netrc file"
				   : "--%s: not the base URL of a server",
			option);
	return base;
}

// --- what is missing ---

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

static int open_own_store(struct row_source *s, const char *catalog, struct err *e)
{
	if (store_open(s->config, STORE_PATIENT, &s->store, e) < 0)
		return -1;
	if (catalog_open(catalog, &s->catalog, e) < 0 || site_check_register(s->config, &s->store, s->catalog, e) < 0 ||
		results_open_of(s->config, catalog, false, &s->results, e) < 0)
		return -1;
	retired_look(&s->store);
	s->platform = store_platform_named(&s->store, str_from(s->name));
	return s->platform ? 0 : store_refuse_platform(&s->store, s->name, ERR_USAGE, e);
}

static void cleanup_row_source(struct row_source **s)
{
	row_source_close(*s);
}

int row_source_of_store(const struct config *config, const char *catalog, const char *platform,
	const struct rebuild_set *rebuild, struct row_source **out, struct err *e)
{
	CLEANUP(cleanup_row_source) struct row_source *s = xcalloc(1, sizeof(*s));
	s->name = platform;
	s->config = config;
	s->rebuild = rebuild;
	if (open_own_store(s, catalog, e) < 0)
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

// What is to be rebuilt is sent along.
static int post_rebuilds(struct row_source *s, const char *url, const char *project, struct fetch_answer *a,
	struct err *e)
{
	static const char *const headers[] = {"Accept: application/json", "Content-Type: application/json", NULL};
	CLEANUP(buf_release) struct buf body = buf_up_to(SIZE_MAX / 2);
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

int row_source_list(struct row_source *s, const char *python, const char *project, struct missing *out, struct err *e)
{
	if (s->base)
		return ask_server(s, python, project, out, e);
	const char *const platforms[] = {s->name};
	const struct missing_options options = {
		.platform = platforms, .platforms = 1, .python = python, .project = project, .rebuild = s->rebuild};
	return missing_make(s->config, &s->store, s->catalog, s->results, &options, out, e);
}

const struct platform *row_source_platform(const struct row_source *s)
{
	return s->platform;
}

// --- results ---

enum { SENT_LOG = 3 << 20 }; // bytes of a log that is cut: JSON has six for one at most

struct result_sender {
	char *url;
	const char *platform;
	struct fetch *fetch;
	struct results *results;
	bool is_told;   // the last failure is logged
	bool is_closed; // the server takes no results: none is sent any more in this run
	bool is_away;   // it did not answer the last time
};

struct result_sender *result_sender_new(const char *base, const char *platform, const struct fetch_options *options,
	struct results *results)
{
	struct result_sender *s = xcalloc(1, sizeof(*s));
	s->url = xasprintf("%s-/builds/%s/", base, platform);
	s->platform = platform;
	s->fetch = fetch_new(options);
	s->results = results;
	return s;
}

void result_sender_free(struct result_sender *s)
{
	if (!s)
		return;
	fetch_free(s->fetch);
	free(s->url);
	free(s);
}

static int print_attempt(void *ctx, const struct results_attempt *a, struct err *e)
{
	struct jsondoc **out = ctx;
	if (a->result == RESULTS_RUNNING)
		return err_set(e, ERR_BUSY, "attempt %s has not ended", a->id);
	*out = results_json(a);
	return 0;
}

// A log that is longer than a server takes: its end, where builds say why they failed.
static void put_end_of_log(struct jsondoc *doc, struct str log)
{
	CLEANUP(buf_release) struct buf end = buf_up_to(SENT_LOG + LIMIT_NOTE);
	buf_puts(&end, "--- The beginning of this log is in the builder's own file of results. ---\n");
	buf_str(&end, str_slice(log, log.len - SENT_LOG, log.len));
	results_json_put_log(doc, buf_view(&end));
}

// The attempt as JSON with its log.
static int print_body(struct result_sender *s, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	struct err ignored = ERR_INIT;
	if (results_find(s->results, id, print_attempt, &doc, e) < 0)
		return -1;
	CLEANUP(buf_release) struct buf log = buf_up_to(LIMIT_RESULT_LOG);
	if (results_log(s->results, id, &log, &ignored) == 0)
		results_json_put_log(doc, buf_view(&log));
	jsondoc_write(doc, 0, out);
	if (out->len > LIMIT_RESULT_DOCUMENT && log.len > SENT_LOG) {
		buf_clear(out);
		put_end_of_log(doc, buf_view(&log));
		jsondoc_write(doc, 0, out);
	}
	return out->failed ? err_set(e, ERR_LIMIT, "the result of attempt %s is too long", id) : 0;
}

static int post_body(struct result_sender *s, struct str body, struct err *e)
{
	static const char *const headers[] = {"Content-Type: application/json", "Accept: text/plain", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_ANSWER);
	if (fetch_post_body(s->fetch, s->url, headers, body, &a, e) < 0)
		return -1;
	return server_answer_check(&a, s->url, e);
}

static int post_attempt(struct result_sender *s, const char *id, struct err *e)
{
	CLEANUP(buf_release) struct buf body = buf_up_to(SIZE_MAX / 2);
	return print_body(s, id, &body, e) < 0 ? -1 : post_body(s, buf_view(&body), e);
}

// The server checks the token before it reads the document, which is not valid.
int result_sender_probe(struct result_sender *s, struct err *e)
{
	struct err why = ERR_INIT;
	if (post_body(s, STR("{}"), &why) == 0 || why.kind != ERR_DENIED)
		return 0;
	*e = why;
	return -1;
}

static bool send_attempt(struct result_sender *s, const char *id)
{
	struct err e = ERR_INIT;
	if (s->is_closed)
		return false;
	if (post_attempt(s, id, &e) < 0 || results_mark_sent(s->results, id, &e) < 0) {
		// A server without this route or right takes no result; one that is away takes them later.
		static const char *const closed = "the server takes no results; they stay in this builder's file";
		s->is_closed = e.kind == ERR_DENIED || e.kind == ERR_NOT_FOUND;
		s->is_away = e.kind == ERR_NET;
		if (!s->is_told)
			log_warn("%s: %s", s->is_closed ? closed : "a result could not be sent, and is sent again",
				e.msg);
		s->is_told = true;
		return false;
	}
	s->is_told = s->is_away = false;
	return true;
}

void result_sender_send(struct result_sender *s, const char *id)
{
	send_attempt(s, id);
}

static int add_id(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	if (a->result != RESULTS_RUNNING)
		strset_add(ctx, a->id);
	return 0;
}

size_t result_sender_flush(struct result_sender *s)
{
	CLEANUP(strset_release) struct strset ids = {0};
	struct err e = ERR_INIT;
	const struct results_filter filter = {.platform = s->platform, .only_unsent = true};
	size_t sent = 0;
	s->is_away = false;
	if (results_list(s->results, &filter, add_id, &ids, &e) < 0)
		log_warn("the results that were not sent: %s", e.msg);
	for (size_t i = 0; i < ids.count && !s->is_closed && !s->is_away; i++)
		sent += send_attempt(s, ids.item[i]);
	return ids.count - sent;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/pages/missing-handler.h"

#include <stdio.h>
#include <string.h>

#include "lib/domain/text/name.h"
#include "builder/missing/branch.h"
#include "builder/missing/missing-json.h"
#include "lib/state/store/retired.h"
#include "server/core/build-results.h"
#include "server/core/missing-counts.h"
#include "server/pages/missing-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

// --- what is asked for ---

static void copy_spelling(const struct buf *from, char *out, size_t size)
{
	snprintf(out, size, "%s", from->failed || !from->len ? "" : from->data);
}

// The spelling that the names of environments have.
static void take_python(struct missing_query *q)
{
	struct err no_python = ERR_INIT;
	struct python python;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, sizeof(q->python) - 1);
	if (python_parse(str_from(q->arguments.text[ARGUMENT_PYTHON]), &python, &no_python) < 0)
		return;
	python_print(&python, &text);
	copy_spelling(&text, q->python, sizeof(q->python));
}

static void take_project(struct missing_query *q)
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	name_normalize(str_from(q->arguments.text[ARGUMENT_PROJECT]), &normal);
	copy_spelling(&normal, q->project, sizeof(q->project));
}

static struct reply *read_arguments(struct missing_query *q, const struct request *r)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {
		[ARGUMENT_PYTHON] = FORM_PYTHON, [ARGUMENT_PROJECT] = FORM_PROJECT};
	struct reply *refused = arguments_read(r, forms, &q->arguments);
	if (refused)
		return refused;
	const char *all = q->arguments.text[ARGUMENT_ALL];
	if (*all && strcmp(all, "0") != 0 && strcmp(all, "1") != 0)
		return arguments_refuse("all is 0 or 1");
	take_python(q);
	take_project(q);
	q->wants_all = *all == '1';
	return NULL;
}

static bool any_branch_wants(const struct config *c, const char *platform, const struct python *python)
{
	for (size_t i = 0; i < c->branch_count; i++) {
		const struct branch branch = {.config = &c->branches[i]};
		if (branch_has_platform(&branch, platform) && branch_has_python(&branch, python))
			return true;
	}
	return false;
}

// Whether a branch wants anything there. A platform whose Pythons are unknown is an error of the configuration.
static bool is_wanted_environment(const struct missing_query *q)
{
	const struct profile *p = &q->platform->profile;
	for (size_t i = 0; i < p->environment_count; i++) {
		CLEANUP(buf_release) struct buf name;
		buf_init(&name, LIMIT_FILE_NAME);
		python_print(&p->environment[i].python, &name);
		if ((!*q->python || strcmp(q->python, name.data) == 0) &&
			any_branch_wants(&q->site->config, q->platform->name, &p->environment[i].python))
			return true;
	}
	return !p->environment_count;
}

struct reply *missing_query_read(struct server_context *s, const struct route_match *match, struct missing_query *q)
{
	const struct request *r = match->request;
	q->site = match->site;
	q->platform = site_platform(match->site, match->platform);
	if (!q->platform)
		return server_context_not_found(s, "no such platform");
	struct reply *refused = read_arguments(q, r);
	if (refused)
		return refused;
	bool is_private = q->platform->is_private;
	if (!match->site->config.branch_count)
		return server_context_not_found_in(s, is_private, "the configuration has no [branch]");
	if (retired_is(q->platform))
		return server_context_not_found_in(s, is_private, "the platform was retired: nothing is built for it");
	if (!is_wanted_environment(q))
		return server_context_not_found_in(s, is_private, "no branch has such a platform and Python");
	const struct view *view = site_view(match->site, match->platform);
	if (!view || view->is_incomplete)
		return server_context_not_filled();
	q->is_html = negotiate_data_html(r->header[HEADER_ACCEPT], r->format);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	const struct page_readers readers = {.site = q->site, .platform = &q->platform, .platforms = 1};
	page_key_make(&q->key, PAGE_MISSING, &readers,
		PAGE_VALUES(PAGE_NUMBER(changes_read(s->changes)), PAGE_TEXT(str_from(q->platform->name)),
			PAGE_TEXT(str_from(q->python)), PAGE_TEXT(str_from(q->project)), PAGE_NUMBER(q->wants_all),
			PAGE_NUMBER(q->is_html), PAGE_NUMBER(q->coding)));
	return NULL;
}

struct reply *missing_handler_inline(struct server_context *s, const struct route_match *match)
{
	struct missing_query q = {0};
	struct reply *refused = missing_query_read(s, match, &q);
	return refused ? refused : pagecache_get(s->pagecache, &q.key);
}

// --- the answer ---

static int write_page(struct server_context *s, struct catalog *c, const struct missing_query *q,
	const struct missing *m, struct buf *out, struct err *e)
{
	const struct missing_page_query shown = {q->platform->name, q->python, q->project, q->wants_all};
	const struct html_frame frame = page_frame(s, c, "/-/missing/PLATFORM", HTML_SECTION_NONE);
	if (q->is_html)
		return missing_page_write(&frame, m, &shown, out, e);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(m);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "what is missing: more than %d bytes", MISSING_QUERY_PAGE) : 0;
}

static int open_builds(struct server_context *s, struct results **out, struct err *e)
{
	struct err why = ERR_INIT;
	if (build_results_open(s->build_results, s->search_ms, out, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

static bool is_about_all(const struct missing_query *q)
{
	return !*q->python && !*q->project && !q->rebuild;
}

int missing_query_answer(struct server_context *s, struct catalog *c, const struct missing_query *q, struct buf *out,
	struct err *e)
{
	const char *const platform[] = {q->platform->name};
	const struct missing_options options = {
		.platform = platform,
		.platforms = 1,
		.python = *q->python ? q->python : NULL,
		.project = *q->project ? q->project : NULL,
		.wants_all = q->wants_all,
		.rebuild = q->rebuild,
		.cpu_end = q->cpu_end,
		.is_offline = true,
	};
	CLEANUP(missing_release) struct missing m = {0};
	CLEANUP(results_cleanup) struct results *results = NULL;
	if (open_builds(s, &results, e) < 0 ||
		missing_make(&q->site->config, &q->site->store, c, results, &options, &m, e) < 0)
		return -1;
	if (is_about_all(q))
		missing_counts_set(s->missing_counts, q->platform->name, m.total[WHEEL_MISSING], m.made);
	return write_page(s, c, q, &m, out, e);
}

// An error of the branches' files is a fault of this server, not of the client: 500, with the reason in the log.
static int make_missing_page(struct server_context *s, struct catalog *c, const void *query, struct buf *out,
	struct err *e)
{
	return missing_query_answer(s, c, query, out, e);
}

struct reply *missing_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct missing_query q = {0};
	struct reply *refused = missing_query_read(s, match, &q);
	if (refused)
		return refused;
	const struct costly_page page = {.key = &q.key,
		.coding = q.coding,
		.type = q.is_html ? "text/html; charset=utf-8" : "application/json",
		.policy = html_policy,
		.is_private = q.platform->is_private,
		.path = "/-/missing/",
		.name = q.platform->name,
		.most = MISSING_QUERY_PAGE};
	return packed_reply_costly(s, c, &page, match, make_missing_page, &q);
}

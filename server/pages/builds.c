// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/store/retired.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/pages/builds-page.h"
#include "server/pages/builds-page.h"
#include "server/pages/page.h"

// --- attempts ---

// A client that names a private platform is asked for its token; a name that is unknown looks the same.
static struct reply *check_named_platform(struct page_query *q)
{
	const struct request *r = q->match->request;
	struct str name = str_from(q->text[ARGUMENT_PLATFORM]);
	const struct platform *p = site_platform(q->site, name);
	if (!name.len || strpbrk(name.ptr, "*?["))
		return NULL;
	if (!p)
		return auth_unknown(q->context, r, TOKEN_READ, name, NULL);
	return p->is_private ? auth_check(q->context, r, TOKEN_READ, p->name, NULL, NULL) : NULL;
}

static bool asks_for_project(const struct page_query *q)
{
	return q->match->project.len > 0;
}

// The list of all leaves out retired platforms, unless one is named: what was built for it stays known. The caller frees
// the array.
static const char **list_names(const struct page_query *q, size_t *count)
{
	const char **name = xcalloc(q->platforms + 1, sizeof(const char *));
	*count = 0;
	for (size_t i = 0; i < q->platforms; i++)
		if (asks_for_project(q) || !retired_is(q->platform[i]) ||
			strcmp(q->text[ARGUMENT_PLATFORM], q->platform[i]->name) == 0)
			name[(*count)++] = q->platform[i]->name;
	return name;
}

// A project without an attempt that the client may see is unknown.
static int write_builds(struct page_query *q, struct buf *out, struct err *e)
{
	const char *project = asks_for_project(q) ? q->project : q->text[ARGUMENT_PROJECT];
	size_t names;
	CLEANUP(mem_free) const char **name = list_names(q, &names);
	CLEANUP(results_cleanup) struct results *results = NULL;
	CLEANUP(builds_data_release) struct builds_data data = {0};
	const struct builds_query asked = {
		.platforms = name,
		.platform_count = names,
		.platform = q->text[ARGUMENT_PLATFORM],
		.project = project,
		.result = q->text[ARGUMENT_RESULT],
		.limit = q->limit,
		.now = q->now,
		.only_attempts = asks_for_project(q),
	};
	if (page_open_results(q->context, &results, e) < 0 || builds_data_read(results, &asked, &data, e) < 0)
		return -1;
	if (asks_for_project(q) && !data.attempts)
		return page_answer(q, page_not_found(q, "no build of this project is known"));
	if (q->form == PAGE_FORM_JSON) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = builds_json(&data, asked.only_attempts);
		jsondoc_write(doc, 2, out);
		return 0;
	}
	const struct builds_page_query shown = {&asked, name, names};
	if (asks_for_project(q))
		builds_page_project(&q->frame, &data, project, q->limit, out);
	else
		builds_page_write(&q->frame, &data, &shown, out);
	return 0;
}

static const struct page_argument arguments[] = {
	{ARGUMENT_PLATFORM, .form = FORM_PLATFORM_GLOB},
	{ARGUMENT_PROJECT, .form = FORM_PROJECT_GLOB, .is_normalized = true},
};

const struct page_row builds_page = {
	.section = HTML_SECTION_BUILDS,
	.scope = PAGE_SCOPE_WHOLE,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON,
	.rows = 100,
	.rows_most = LIMIT_BUILDS_ROWS,
	.most = 32 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = check_named_platform,
	.write = write_builds,
};

const struct page_row builds_project_page = {
	.section = HTML_SECTION_BUILDS,
	.scope = PAGE_SCOPE_PROJECT,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON,
	.rows = 100,
	.rows_most = LIMIT_BUILDS_ROWS,
	.most = 32 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = check_named_platform,
	.write = write_builds,
};

// --- the log of one ---

struct found_attempt {
	const struct page_query *request;
	bool is_found, is_running;
};

static int check_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct found_attempt *f = ctx;
	const struct page_query *b = f->request;
	for (size_t i = 0; i < b->platforms; i++)
		if (strcmp(a->platform, b->platform[i]->name) == 0 && strcmp(a->project, b->project) == 0)
			f->is_found = true;
	f->is_running = a->result == RESULTS_RUNNING;
	return 0;
}

// ERR_NOT_FOUND: no such attempt, one that the client may not see, or one without a log.
static int read_clean_log(const struct page_query *b, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(results_cleanup) struct results *results = NULL;
	struct found_attempt found = {.request = b};
	CLEANUP(buf_release) struct buf raw;
	buf_init(&raw, LIMIT_RESULT_LOG);
	raw.meter = out->meter;
	if (build_results_open(b->context->build_results, b->context->search_ms, &results, e) < 0 ||
		results_find(results, id, check_attempt, &found, e) < 0)
		return -1;
	if (!found.is_found)
		return err_set(e, ERR_NOT_FOUND, "no such attempt");
	if (results_log(results, id, &raw, e) < 0)
		return -1;
	builds_log_clean(buf_view(&raw), out);
	if (found.is_running)
		buf_puts(out, "\n--- This attempt is running. Its log ends here for now. ---\n");
	return 0;
}

static int write_log(struct page_query *q, struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *id = xstrndup(q->match->id.ptr, q->match->id.len);
	if (read_clean_log(q, id, out, &why) == 0)
		return 0;
	if (why.kind == ERR_NOT_FOUND)
		return page_answer(q, page_not_found(q, "there is no such attempt, or it has no log"));
	*e = why;
	return -1;
}

const struct page_row builds_log_page = {
	.scope = PAGE_SCOPE_PROJECT,
	.forms = 1 << PAGE_FORM_TEXT,
	.most = 3 * (size_t)LIMIT_RESULT_LOG + LIMIT_NOTE,
	PAGE_ARGUMENTS(arguments),
	.prepare = check_named_platform,
	.write = write_log,
};

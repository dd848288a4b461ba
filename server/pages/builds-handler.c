// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-handler.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/store/retired.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/pages/arguments.h"
#include "server/pages/builds-data.h"
#include "server/pages/builds-json.h"
#include "server/pages/builds-log.h"
#include "server/pages/builds-page.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/message/negotiate.h"

enum { PAGE_MOST = 32 << 20, ATTEMPTS = 100 };

// A request for attempts.
struct builds_request {
	struct server_context *context;
	struct catalog *catalog;
	const struct request *request;
	struct buf_meter *meter;
	const char **platform; // names that the client may read; owned, the names are not
	size_t platforms;
	struct arguments arguments;
	char project[LIMIT_FILE_NAME + 1]; // normal form; "": any
	struct builds_query query;
};

static void builds_request_release(struct builds_request *r)
{
	mem_free(&r->platform);
}

// --- what is asked for ---

// The list of all leaves out retired platforms, unless one is named: what was built for it stays known.
static void list_readable_names(struct builds_request *b, const struct site *site, const char *project)
{
	size_t count;
	const char *named = b->arguments.text[ARGUMENT_PLATFORM];
	const struct platform **readable CLEANUP(mem_free) =
		auth_readable(b->context, b->request, site, project, &count);
	b->platform = xcalloc(count + 1, sizeof(const char *));
	for (size_t i = 0; i < count; i++)
		if (project || !retired_is(readable[i]) || strcmp(named, readable[i]->name) == 0)
			b->platform[b->platforms++] = readable[i]->name;
}

// A glob keeps its special characters.
static bool normalize_project(struct str name, char out[LIMIT_FILE_NAME + 1])
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	name_normalize(name, &normal);
	if (normal.failed)
		return false;
	memcpy(out, normal.data, normal.len);
	out[normal.len] = '\0';
	return true;
}

// A client that names a private platform is asked for its token; a name that is unknown looks the same.
static struct reply *check_named_platform(struct builds_request *b, const struct site *site)
{
	struct str name = str_from(b->arguments.text[ARGUMENT_PLATFORM]);
	const struct platform *p = site_platform(site, name);
	if (!name.len || strpbrk(name.ptr, "*?["))
		return NULL;
	if (!p)
		return auth_unknown(b->context, b->request, TOKEN_READ, name, NULL);
	return p->is_private ? auth_check(b->context, b->request, TOKEN_READ, p->name, NULL, NULL) : NULL;
}

// A reply where the client is refused.
static struct reply *read_request(struct builds_request *b, const struct route_match *match)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {
		[ARGUMENT_PLATFORM] = FORM_PLATFORM_GLOB, [ARGUMENT_PROJECT] = FORM_PROJECT_GLOB};
	const struct site *site = match->site;
	struct str project = match->project;
	b->request = match->request;
	b->meter = match->meter;
	struct reply *refused = arguments_read(b->request, forms, &b->arguments);
	if (refused)
		return refused;
	refused = check_named_platform(b, site);
	if (refused)
		return refused;
	if (!normalize_project(project.len ? project : str_from(b->arguments.text[ARGUMENT_PROJECT]), b->project))
		return server_context_not_found(b->context, "no such project");
	list_readable_names(b, site, project.len ? b->project : NULL);
	b->query = (struct builds_query){
		.platforms = b->platform,
		.platform_count = b->platforms,
		.platform = b->arguments.text[ARGUMENT_PLATFORM],
		.project = b->project,
		.result = b->arguments.text[ARGUMENT_RESULT],
		.limit = arguments_limit(&b->arguments, ATTEMPTS, LIMIT_BUILDS_ROWS),
		.now = clock_wall_seconds(),
		.only_attempts = project.len > 0,
	};
	return NULL;
}

// Nothing built yet is no error.
static int read_builds(struct builds_request *b, struct builds_data *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(results_cleanup) struct results *results = NULL;
	if (build_results_open(b->context->build_results, b->context->search_ms, &results, &why) < 0 &&
		why.kind != ERR_NOT_FOUND) {
		*e = why;
		return -1;
	}
	return builds_data_read(results, &b->query, out, e);
}

// --- replies ---

static struct reply *reply_page(const struct builds_request *b, const char *type, struct buf *page)
{
	return packed_reply(b->context, negotiate_coding(b->request->header[HEADER_ACCEPT_ENCODING]), type, html_policy,
		page, server_context_site(b->context)->has_private);
}

static struct reply *reply_builds(struct builds_request *b, const struct builds_data *data)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf page;
	bool is_json = negotiate_page_json(b->request->header[HEADER_ACCEPT], b->request->format);
	const struct html_frame frame = page_frame(b->context, b->catalog, b->request->path, HTML_SECTION_BUILDS);
	const struct builds_page_query shown = {&b->query, b->platform, b->platforms};
	buf_init(&page, PAGE_MOST);
	page.meter = b->meter;
	int result = is_json                  ? builds_json_write(data, b->query.only_attempts, &page, &e)
		     : b->query.only_attempts ? builds_page_project(&frame, data, b->project, b->query.limit, &page, &e)
					      : builds_page_write(&frame, data, &shown, &page, &e);
	return result < 0 ? packed_reply_failed(&page, &e)
			  : reply_page(b, is_json ? "application/json" : "text/html; charset=utf-8", &page);
}

struct reply *builds_handler_all(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	CLEANUP(builds_request_release) struct builds_request b = {.context = s, .catalog = c};
	CLEANUP(builds_data_release) struct builds_data data = {0};
	struct reply *refused = read_request(&b, match);
	if (refused)
		return refused;
	return read_builds(&b, &data, &e) < 0 ? server_context_error(&e) : reply_builds(&b, &data);
}

// A project without an attempt that the client may see is unknown.
struct reply *builds_handler_project(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	CLEANUP(builds_request_release) struct builds_request b = {.context = s, .catalog = c};
	CLEANUP(builds_data_release) struct builds_data data = {0};
	if (!name_is_valid(match->project))
		return server_context_not_found(s, "no such project");
	struct reply *refused = read_request(&b, match);
	if (refused)
		return refused;
	if (read_builds(&b, &data, &e) < 0)
		return server_context_error(&e);
	return data.attempts
		       ? reply_builds(&b, &data)
		       : server_context_not_found_in(s, match->site->has_private, "no build of this project is known");
}

// --- logs ---

struct found_attempt {
	const struct builds_request *request;
	bool is_found, is_running;
};

static int check_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct found_attempt *f = ctx;
	const struct builds_request *b = f->request;
	for (size_t i = 0; i < b->platforms; i++)
		if (strcmp(a->platform, b->platform[i]) == 0 && strcmp(a->project, b->project) == 0)
			f->is_found = true;
	f->is_running = a->result == RESULTS_RUNNING;
	return 0;
}

// ERR_NOT_FOUND: no such attempt, one that the client may not see, or one without a log.
static int read_log(struct builds_request *b, const char *id, struct buf *out, bool *is_running, struct err *e)
{
	CLEANUP(results_cleanup) struct results *results = NULL;
	struct found_attempt found = {.request = b};
	CLEANUP(buf_release) struct buf raw;
	buf_init(&raw, LIMIT_RESULT_LOG);
	raw.meter = out->meter = b->meter;
	if (build_results_open(b->context->build_results, b->context->search_ms, &results, e) < 0 ||
		results_find(results, id, check_attempt, &found, e) < 0)
		return -1;
	if (!found.is_found)
		return err_set(e, ERR_NOT_FOUND, "no such attempt");
	if (results_log(results, id, &raw, e) < 0)
		return -1;
	*is_running = found.is_running;
	builds_log_clean(buf_view(&raw), out);
	if (found.is_running)
		buf_puts(out, "\n--- This attempt is running. Its log ends here for now. ---\n");
	return out->failed ? err_set(e, ERR_LIMIT, "log of a build: larger than %zu bytes", out->cap) : 0;
}

struct reply *builds_handler_log(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	struct err e = ERR_INIT;
	bool is_running = false;
	CLEANUP(builds_request_release) struct builds_request b = {.context = s};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 3 * (size_t)LIMIT_RESULT_LOG + LIMIT_NOTE);
	struct reply *refused = name_is_valid(match->project) ? read_request(&b, match)
							      : server_context_not_found(s, "no such project");
	if (refused)
		return refused;
	CLEANUP(mem_free) char *id = xstrndup(match->id.ptr, match->id.len);
	if (read_log(&b, id, &text, &is_running, &e) < 0)
		return e.kind == ERR_NOT_FOUND ? server_context_not_found_in(s, match->site->has_private,
							 "there is no such attempt, or it has no log")
					       : packed_reply_failed(&text, &e);
	return reply_page(&b, "text/plain; charset=utf-8", &text);
}

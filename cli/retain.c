// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/views/evidence-expire.h"
#include "lib/state/views/membership.h"
#include "pruner/operations/retain.h"

struct retain_command {
	struct session s;
	const char *view, *now_text; // NULL: not given
	int64_t now;
	struct operation operation;
};

// --- what is printed ---

static void print_file(void *ctx, const struct platform *platform, const char *filename, enum operation_result result,
	uint64_t bytes UNUSED, const char *words)
{
	const struct retain_command *x = ctx;
	if (result == OPERATION_FAILED)
		log_error("%s: failed: %s: %s", platform->name, filename, words);
	else if (!x->s.is_quiet && !x->s.is_json)
		printf("  %s: %s %s%s%s\n", platform->name,
			result == OPERATION_KEPT    ? "stays:"
			: result == OPERATION_WOULD ? "would end:"
						    : "ended:",
			filename, result == OPERATION_KEPT ? ": " : "", result == OPERATION_KEPT ? words : "");
}

static void print_end(void *ctx, const struct view *v, const struct view_channel_project *p,
	const struct view_channel_version *ends)
{
	const struct retain_command *x = ctx;
	if (!x->s.is_quiet && !x->s.is_json)
		printf("%s: %s %s %s\n", v->name, p->project, ends->version, x->s.is_dry_run ? "would end" : "ends");
}

static void warn_of_end(void *ctx UNUSED, const struct view *v, const struct view_channel_project *p,
	const struct view_channel_version *ends)
{
	char when[CLOCK_TEXT];
	clock_write(ends->ends, when);
	log_warn("view %s: %s %s ends at %s", v->name, p->project, ends->version, when);
}

static struct jsondoc *view_json(struct retain_view *v)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "view", v->view->name);
	jsondoc_put_bool(doc, "membership", v->has_membership);
	jsondoc_put_str(doc, "doubt", v->doubt);
	jsondoc_put_int(doc, "ended", (int64_t)v->ended);
	jsondoc_put_int(doc, "files", (int64_t)v->files);
	jsondoc_put_int(doc, "ending", (int64_t)v->ending);
	jsondoc_put_int(doc, "stale", (int64_t)v->stale);
	jsondoc_put(doc, "projects", STEAL_PTR(v->project));
	return doc;
}

static struct jsondoc *retain_json(const struct retain_command *x, struct retain_result *r)
{
	char now[CLOCK_TEXT];
	struct jsondoc *doc = jsondoc_object(), *views = jsondoc_array();
	clock_write(x->now, now);
	for (size_t i = 0; i < r->views; i++)
		jsondoc_add(views, view_json(&r->view[i]));
	jsondoc_put_str(doc, "now", now);
	jsondoc_put_bool(doc, "dry_run", x->s.is_dry_run);
	jsondoc_put(doc, "views", views);
	return doc;
}

static int print_result(struct retain_command *x, struct retain_result *r, struct err *e)
{
	if (x->s.is_json)
		session_json(&x->s, retain_json(x, r));
	for (size_t i = 0; i < r->views && !x->s.is_quiet && !x->s.is_json; i++) {
		const struct retain_view *v = &r->view[i];
		bool is_dry = x->s.is_dry_run;
		if (v->doubt)
			continue; // the error says it
		printf("%s: %s %s (%s), %" PRIu64 " will end soon, %s stale\n", v->view->name,
			COUNTED(v->ended, "version|versions"), is_dry ? "would end" : "ended",
			COUNTED(v->files, "file|files"), v->ending, COUNTED(v->stale, "project|projects"));
	}
	if (!r->views && !x->view && !x->s.is_quiet && !x->s.is_json)
		puts("no view has keep-versions or keep-days");
	return session_print(&x->s, e);
}

// --- running ---

static int end_evidence(const struct retain_command *x, struct err *e)
{
	uint64_t ended = 0;
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->s.config);
	if (!views || x->view || x->s.is_dry_run)
		return 0;
	int result = evidence_expire(views, x->s.catalog, x->s.config.evidence_keep, x->now, &ended, e);
	if (ended && !x->s.is_quiet && !x->s.is_json)
		printf("evidence: %s ended\n", COUNTED(ended, "record|records"));
	return result;
}

static int retain_views(struct retain_command *x, struct err *e)
{
	CLEANUP(retain_result_release) struct retain_result result = {0};
	const struct retain_options how = {.view = x->view,
		.now = x->now,
		.is_dry = x->s.is_dry_run,
		.warn = warn_of_end,
		.end = print_end,
		.ctx = x};
	struct err unprinted = ERR_INIT;
	int retained = retain(&x->operation, &x->s.site, &how, &result, e);
	int printed = print_result(x, &result, retained < 0 ? &unprinted : e);
	if (retained < 0)
		return -1;
	return end_evidence(x, printed < 0 ? &unprinted : e) < 0 || printed < 0 ? -1 : 0;
}

static int run_retain(void *self, struct err *e)
{
	struct retain_command *x = self;
	struct session *s = &x->s;
	struct err unreleased = ERR_INIT;
	x->now = clock_wall_seconds();
	if (x->now_text && !clock_read_end(x->now_text, &x->now))
		return err_set(e, ERR_USAGE, "--now %s: expected a day or a time in UTC, such as 2026-11-20T06:00:00Z",
			x->now_text);
	if (session_open(s,
		    SESSION_LOCATE | SESSION_STORE | SESSION_MAKE | SESSION_AUDIT | SESSION_REGISTER | SESSION_PINS |
			    SESSION_SITE,
		    e) < 0 ||
		operation_begin(&x->operation, &s->store, s->catalog, s->audit, session_account(s), e) < 0)
		return -1;
	x->operation.report = print_file;
	x->operation.report_ctx = x;
	int retained = retain_views(x, e);
	if (operation_end(&x->operation, retained < 0 ? &unreleased : e) < 0 || retained < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

static void begin_retain(void *self)
{
	((struct retain_command *)self)->operation.lock = -1;
}

static void release_retain(void *self)
{
	operation_release(&((struct retain_command *)self)->operation);
}

static const struct option_row options[] = {
	{"view", '\0', "VIEW", "only this view, not all that have keep-versions or keep-days",
		TEXT(retain_command, view)},
	{"now", '\0', "TIME", "decide as at this time, such as 2026-11-20 or 2026-11-20T06:00:00Z",
		TEXT(retain_command, now_text)},
};

const struct command command_retain = {
	.name = "retain",
	.arguments = "[STORE]",
	.help = "end the versions that views no longer keep",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct retain_command),
	.begin = begin_retain,
	.run = run_retain,
	.release = release_retain,
};

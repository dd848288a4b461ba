// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/views/evidence-expire.h"
#include "lib/state/views/membership.h"
#include "lib/view/site-check.h"
#include "pruner/operations/retain.h"
#include "pruner/plan/pins.h"

struct retain_command {
	struct cli_config settings;
	const char *view, *now_text; // NULL: not given
	int64_t now;
	struct config config;
	struct catalog *catalog;
	struct audit *audit;
	struct site site;
	char *who;
	struct operation operation;
};

static const struct option_row options[] = {
	{"view", '\0', "VIEW", "only this view, not all that have keep-versions or keep-days", NO_KEY},
	{"now", '\0', "TIME", "decide as at this time, such as 2026-11-20 or 2026-11-20T06:00:00Z", NO_KEY},
};

static int take_retain_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct retain_command *x = ctx;
	const struct command_text texts[] = {{"view", &x->view}, {"now", &x->now_text}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s is not an option of retain", name);
}

static int take_now(struct retain_command *x, struct err *e)
{
	x->now = clock_wall_seconds();
	if (x->now_text && !clock_read_end(x->now_text, &x->now))
		return err_set(e, ERR_USAGE, "--now %s: expected a day or a time in UTC, such as 2026-11-20T06:00:00Z",
			x->now_text);
	return 0;
}

// --- what is printed ---

static void print_file(void *ctx, const struct platform *platform, const char *filename, enum operation_result result,
	uint64_t bytes UNUSED, const char *words)
{
	const struct retain_command *x = ctx;
	if (result == OPERATION_FAILED)
		log_error("%s: failed: %s: %s", platform->name, filename, words);
	else if (!x->settings.is_quiet && !x->settings.is_json)
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
	if (!x->settings.is_quiet && !x->settings.is_json)
		printf("%s: %s %s %s\n", v->name, p->project, ends->version,
			x->settings.is_dry_run ? "would end" : "ends");
}

static void warn_of_end(void *ctx UNUSED, const struct view *v, const struct view_channel_project *p,
	const struct view_channel_version *ends)
{
	char when[CLOCK_TEXT];
	clock_write(ends->ends, when);
	log_warn("view %s: %s %s ends at %s", v->name, p->project, ends->version, when);
}

static void print_summary(const struct retain_view *v, bool is_dry)
{
	if (v->doubt)
		return; // the error says it
	printf("%s: %" PRIu64 " version%s %s (%" PRIu64 " file%s), %" PRIu64 " will end soon, %" PRIu64
	       " project%s stale\n",
		v->view->name, v->ended, v->ended == 1 ? "" : "s", is_dry ? "would end" : "ended", v->files,
		v->files == 1 ? "" : "s", v->ending, v->stale, v->stale == 1 ? "" : "s");
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

static void print_retain_json(const struct retain_command *x, struct retain_result *r)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf out;
	char now[CLOCK_TEXT];
	struct jsondoc *views = jsondoc_array();
	buf_init(&out, SIZE_MAX / 2);
	clock_write(x->now, now);
	for (size_t i = 0; i < r->views; i++)
		jsondoc_add(views, view_json(&r->view[i]));
	jsondoc_put_str(doc, "now", now);
	jsondoc_put_bool(doc, "dry_run", x->settings.is_dry_run);
	jsondoc_put(doc, "views", views);
	jsondoc_write(doc, 2, &out);
	fwrite(out.data, 1, out.len, stdout);
}

static void print_result(const struct retain_command *x, struct retain_result *r)
{
	if (x->settings.is_json) {
		print_retain_json(x, r);
		return;
	}
	for (size_t i = 0; i < r->views && !x->settings.is_quiet; i++)
		print_summary(&r->view[i], x->settings.is_dry_run);
	if (!r->views && !x->view && !x->settings.is_quiet)
		puts("no view has keep-versions or keep-days");
}

// --- running ---

static int open_site(struct retain_command *x, struct err *e)
{
	struct store store = {0};
	CLEANUP(mem_free) char *path = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || !(path = cli_config_catalog(&x->config, e)) ||
		cli_config_audit(&x->config, &x->audit, e) < 0 || catalog_open(path, &x->catalog, e) < 0 ||
		store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	if (site_check_register(&x->config, &store, x->catalog, e) < 0 || pins_sync(&x->config, x->catalog, e) < 0) {
		store_release(&store);
		return -1;
	}
	return site_init(&x->site, &x->config, &store, x->catalog, e);
}

static int end_evidence(const struct retain_command *x, struct err *e)
{
	uint64_t ended = 0;
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->config);
	if (!views || x->view || x->settings.is_dry_run)
		return 0;
	int result = evidence_expire(views, x->catalog, x->config.evidence_keep, x->now, &ended, e);
	if (ended && !x->settings.is_quiet && !x->settings.is_json)
		printf("evidence: %" PRIu64 " record%s ended\n", ended, ended == 1 ? "" : "s");
	return result;
}

static int retain_views(struct retain_command *x, struct err *e)
{
	if (open_site(x, e) < 0)
		return -1;
	x->who = audit_account();
	if (operation_begin(&x->operation, &x->site.store, x->catalog, x->audit, x->who, e) < 0)
		return -1;
	x->operation.report = print_file;
	x->operation.report_ctx = x;
	const struct retain_options how = {.view = x->view,
		.now = x->now,
		.is_dry = x->settings.is_dry_run,
		.warn = warn_of_end,
		.end = print_end,
		.ctx = x};
	CLEANUP(retain_result_release) struct retain_result result = {0};
	int retained = retain(&x->operation, &x->site, &how, &result, e);
	print_result(x, &result);
	if (retained == 0)
		retained = end_evidence(x, e);
	struct err unreleased = ERR_INIT;
	if (operation_end(&x->operation, retained < 0 ? &unreleased : e) < 0 || retained < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

static void retain_command_release(struct retain_command *x)
{
	operation_release(&x->operation);
	site_release(&x->site);
	audit_close(x->audit);
	catalog_close(x->catalog);
	config_release(&x->config);
	mem_free(&x->who);
}

static int run_retain(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(retain_command_release) struct retain_command x = {.operation = {.lock = -1}};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_retain_option, &x, e) < 0 || take_now(&x, e) < 0)
		return err_exit_code(e->kind);
	return retain_views(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_retain = {
	.name = "retain",
	.arguments = "[STORE]",
	.help = "end the versions that views no longer keep",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_retain,
};

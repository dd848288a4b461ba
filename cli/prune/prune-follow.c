// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <unistd.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/format/jsondoc.h"
#include "lib/state/access/audit.h"
#include "lib/view/site-check.h"
#include "pruner/operations/follow.h"
#include "pruner/plan/pins.h"

struct follow_command {
	struct cli_config settings;
	struct config config;
	struct progress progress;
	struct jsondoc *steps; // for --json
};

// --- output ---

static const struct {
	const char *code, *done, *will; // the code is for JSON
} kinds[UPSTREAM_DIFF_COUNT] = {
	[UPSTREAM_DIFF_RELIST] = {"relist", "listed again", "would be listed again"},
	[UPSTREAM_DIFF_LOST] = {"lost", "lost", "lost"},
	[UPSTREAM_DIFF_YANK] = {"yank", "yanked", "would be yanked"},
	[UPSTREAM_DIFF_UNYANK] = {"unyank", "no longer yanked", "would no longer be yanked"},
};

static const struct {
	const char *code;
	bool is_problem; // printed also with --quiet
} results[FOLLOW_COUNT] = {
	[FOLLOW_DONE] = {"done", false},
	[FOLLOW_LOST] = {"lost", true},
	[FOLLOW_SKIPPED] = {"skipped", false},
	[FOLLOW_FAILED] = {"failed", true},
	[FOLLOW_HELD] = {"frozen", true},
};

static void add_json(struct follow_command *x, enum follow_result result, const struct platform *p,
	const struct upstream_diff_step *step, const char *why)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "platform", p->name);
	jsondoc_put_str(doc, "what", kinds[step->kind].code);
	jsondoc_put_str(doc, "result", results[result].code);
	jsondoc_put_str(doc, "why", why);
	jsondoc_put_str(doc, "project", step->project);
	jsondoc_put_str(doc, "file", step->filename);
	jsondoc_add(x->steps, doc);
}

static void report_step(void *ctx, enum follow_result result, const struct platform *p,
	const struct upstream_diff_step *step, const char *why)
{
	struct follow_command *x = ctx;
	bool is_problem = results[result].is_problem;
	if (x->settings.is_json) {
		add_json(x, result, p, step, why);
	} else if (is_problem) {
		printf("%s: %s: %s: %s: %s\n", p->name, kinds[step->kind].code, results[result].code, step->filename,
			why);
	} else if (!x->settings.is_quiet && result == FOLLOW_DONE) {
		const char *words = x->settings.is_dry_run ? kinds[step->kind].will : kinds[step->kind].done;
		printf("%s: %s: %s%s%s\n", p->name, words, step->filename, *why ? ": " : "", why);
	}
}

static void print_json(struct follow_command *x, const struct upstream_diff *f, const struct follow_counts *n)
{
	const struct {
		const char *key;
		size_t count;
	} row[] = {
		{"pruned", f->pruned},
		{"projects", f->projects},
		{"unknown", f->unknown},
		{"relisted", n->done[UPSTREAM_DIFF_RELIST]},
		{"lost", n->of[FOLLOW_LOST]},
		{"yanked", n->done[UPSTREAM_DIFF_YANK]},
		{"unyanked", n->done[UPSTREAM_DIFF_UNYANK]},
		{"failed", n->of[FOLLOW_FAILED]},
		{"frozen", n->of[FOLLOW_HELD]},
	};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_put_bool(doc, "dry-run", x->settings.is_dry_run);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		jsondoc_put_int(doc, row[i].key, (int64_t)row[i].count);
	jsondoc_put(doc, "steps", STEAL_PTR(x->steps));
	jsondoc_write(doc, 2, &text);
	fwrite(text.data, 1, text.len, stdout);
}

static void print_text(const struct upstream_diff *f, const struct follow_counts *n)
{
	printf("%zu pruned files, %zu projects: %zu listed again, %zu lost, %zu yanked, %zu no longer yanked\n",
		f->pruned, f->projects, n->done[UPSTREAM_DIFF_RELIST], n->of[FOLLOW_LOST], n->done[UPSTREAM_DIFF_YANK],
		n->done[UPSTREAM_DIFF_UNYANK]);
	if (f->unknown)
		printf("%zu of %zu projects are unchanged: upstream's state is unknown\n", f->unknown, f->projects);
}

static int report_result(struct follow_command *x, const struct upstream_diff *f, const struct follow_counts *n,
	struct err *e)
{
	if (x->settings.is_json)
		print_json(x, f, n);
	else if (!x->settings.is_quiet)
		print_text(f, n);
	if (fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	if (n->of[FOLLOW_LOST])
		return err_set(e, ERR_NOT_FOUND,
			"%zu files are lost: upstream no longer has them, and their bytes are purged",
			n->of[FOLLOW_LOST]);
	if (n->of[FOLLOW_FAILED])
		return err_set(e, ERR_IO, "%zu files could not be changed", n->of[FOLLOW_FAILED]);
	return 0;
}

// --- changes ---

static int follow_upstream(struct follow_command *x, const struct store *store, struct catalog *c, struct err *e)
{
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(upstream_cleanup) struct upstream *upstream = NULL;
	CLEANUP(upstream_diff_release) struct upstream_diff found = {0};
	CLEANUP(mem_free) char *who = audit_account();
	struct follow_counts counts;
	const struct upstream_diff_options finding = {
		.yanks = x->config.prune_follow_yanks, .progress = progress_look, .ctx = &x->progress};
	if ((!x->settings.is_dry_run && cli_config_audit(&x->config, &audit, e) < 0) ||
		upstream_new(&x->config, &upstream, e) < 0 || pins_sync(&x->config, c, e) < 0)
		return -1;
	progress_begin(&x->progress, !x->settings.is_quiet);
	int result = upstream_diff_find(store, c, upstream, &finding, &found, e);
	progress_end(&x->progress);
	const struct follow_options doing = {
		.is_dry_run = x->settings.is_dry_run, .who = who, .audit = audit, .report = report_step, .ctx = x};
	if (result < 0)
		return -1;
	struct err ignored = ERR_INIT;
	int followed = follow_run(store, c, &found, &doing, &counts, e);
	int reported = report_result(x, &found, &counts, followed < 0 ? &ignored : e);
	return followed < 0 || reported < 0 ? -1 : 0;
}

static int open_and_follow(struct follow_command *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path)
		return -1;
	if (access(path, F_OK) < 0)
		return err_set(e, ERR_NOT_FOUND, "there is no catalog %s; wheelcache index makes it", path);
	if (catalog_open(path, &catalog, e) < 0 || site_check_find(&x->config, &store, catalog, e) < 0)
		return -1;
	return follow_upstream(x, &store, catalog, e);
}

static void follow_command_release(struct follow_command *x)
{
	config_release(&x->config);
	jsondoc_cleanup(&x->steps);
}

static int run_follow(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(follow_command_release) struct follow_command x = {.steps = jsondoc_array()};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, NULL, NULL, e) < 0)
		return err_exit_code(e->kind);
	return open_and_follow(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_follow = {
	.name = "prune follow",
	.arguments = "[STORE]",
	.help = "list files again that upstream removed; yank what it yanked",
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_follow,
};

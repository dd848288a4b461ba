// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <unistd.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/format/jsondoc.h"
#include "lib/state/access/audit.h"
#include "pruner/operations/follow.h"

struct following_upstream {
	struct cli_config settings;
	struct config config;
	struct progress progress;
	bool is_dry_run, is_json, is_quiet;
	struct jsondoc *steps; // of what was done, for --json
};

static const struct option_row options[] = {
	{"dry-run", 'n', NULL, "only tell what would be done"},
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"json", '\0', NULL, "tell it as JSON"},
	{"quiet", 'q', NULL, "no progress bar; tell only what needs somebody"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static const struct cli_config_option keys[] = {
	{"catalog", "catalog", "path"},
	{"log-level", "server", "log-level"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct following_upstream *x = ctx;
	const struct command_flag flags[] = {
		{"dry-run", &x->is_dry_run},
		{"json", &x->is_json},
		{"quiet", &x->is_quiet},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		cli_config_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

// --- what is told ---

static const struct {
	const char *code, *done, *will; // for JSON, and in words
} kinds[UPSTREAM_DIFF_COUNT] = {
	[UPSTREAM_DIFF_RELIST] = {"relist", "listed again", "would be listed again"},
	[UPSTREAM_DIFF_LOST] = {"lost", "lost", "lost"},
	[UPSTREAM_DIFF_YANK] = {"yank", "yanked", "would be yanked"},
	[UPSTREAM_DIFF_UNYANK] = {"unyank", "no longer yanked", "would no longer be yanked"},
};

static const struct {
	const char *code;
	bool needs_somebody;
} results[FOLLOW_COUNT] = {
	[FOLLOW_DONE] = {"done", false},
	[FOLLOW_LOST] = {"lost", true},
	[FOLLOW_SKIPPED] = {"skipped", false},
	[FOLLOW_FAILED] = {"failed", true},
	[FOLLOW_HELD] = {"frozen", true},
};

static void add_json(struct following_upstream *x, enum follow_result result, const struct platform *p,
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

static void tell(void *ctx, enum follow_result result, const struct platform *p, const struct upstream_diff_step *step,
	const char *why)
{
	struct following_upstream *x = ctx;
	bool needs = results[result].needs_somebody;
	if (x->is_json) {
		add_json(x, result, p, step, why);
	} else if (needs) {
		printf("%s: %s: %s: %s: %s\n", p->name, kinds[step->kind].code, results[result].code, step->filename,
			why);
	} else if (!x->is_quiet && result == FOLLOW_DONE) {
		const char *words = x->is_dry_run ? kinds[step->kind].will : kinds[step->kind].done;
		printf("%s: %s: %s%s%s\n", p->name, words, step->filename, *why ? ": " : "", why);
	}
}

static void print_json(struct following_upstream *x, const struct upstream_diff *f, const struct follow_counts *n)
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
	jsondoc_put_bool(doc, "dry-run", x->is_dry_run);
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
		printf("%zu of %zu projects are as they were: upstream did not say how they are\n", f->unknown,
			f->projects);
}

static int report(struct following_upstream *x, const struct upstream_diff *f, const struct follow_counts *n,
	struct err *e)
{
	if (x->is_json)
		print_json(x, f, n);
	else if (!x->is_quiet)
		print_text(f, n);
	if (fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "cannot write what was done");
	if (n->of[FOLLOW_LOST])
		return err_set(e, ERR_NOT_FOUND,
			"%zu files are lost: upstream has them no more, and their bytes were purged",
			n->of[FOLLOW_LOST]);
	if (n->of[FOLLOW_FAILED])
		return err_set(e, ERR_IO, "%zu files stay as they were", n->of[FOLLOW_FAILED]);
	return 0;
}

// --- doing ---

static int follow(struct following_upstream *x, const struct store *store, struct catalog *c, struct err *e)
{
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(upstream_cleanup) struct upstream *upstream = NULL;
	CLEANUP(upstream_diff_release) struct upstream_diff found = {0};
	CLEANUP(mem_free) char *who = audit_account();
	struct follow_counts counts;
	const struct upstream_diff_options finding = {
		.yanks = x->config.prune_follow_yanks, .progress = progress_look, .ctx = &x->progress};
	if ((!x->is_dry_run && cli_config_audit(&x->config, &audit, e) < 0) ||
		upstream_new(&x->config, &upstream, e) < 0)
		return -1;
	progress_begin(&x->progress, !x->is_quiet);
	int result = upstream_diff_find(store, c, upstream, &finding, &found, e);
	progress_end(&x->progress);
	const struct follow_options doing = {
		.is_dry_run = x->is_dry_run, .who = who, .audit = audit, .report = tell, .ctx = x};
	if (result < 0)
		return -1;
	struct err unsaid = ERR_INIT;
	int followed = follow_run(store, c, &found, &doing, &counts, e);
	int reported = report(x, &found, &counts, followed < 0 ? &unsaid : e);
	return followed < 0 || reported < 0 ? -1 : 0;
}

static int open_and_follow(struct following_upstream *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path)
		return -1;
	if (access(path, F_OK) < 0)
		return err_errno(e, ERR_NOT_FOUND, "catalog %s", path);
	if (catalog_open(path, &catalog, e) < 0 || store_find(&store, catalog, e) < 0)
		return -1;
	return follow(x, &store, catalog, e);
}

static void following_upstream_release(struct following_upstream *x)
{
	config_release(&x->config);
	jsondoc_cleanup(&x->steps);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(following_upstream_release) struct following_upstream x = {.steps = jsondoc_array()};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_option, &x, e) < 0)
		return err_exit_code(e->kind);
	return open_and_follow(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_follow = {
	.name = "prune follow",
	.arguments = "[STORE]",
	.help = "list again what upstream has no more, and yank what it yanked",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

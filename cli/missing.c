// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/output-file.h"
#include "cli/common/progress.h"
#include "cli/missing-print.h"
#include "builder/missing/missing-json.h"
#include "builder/missing/missing-matrix.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/state/results/results.h"
#include "lib/state/store/retired.h"
#include "lib/view/site-check.h"

struct missing_form;

struct missing_command {
	struct cli_config settings;
	struct config config;
	struct missing_options options;
	struct command_words globs;                              // of --platform
	const char *format, *shard_text, *path, *rebuild, *view; // NULL: not given
	struct rebuild_set *rebuilds;
	const struct missing_form *form;
	struct missing_shard shard;
	bool checks; // --check
	struct progress progress;
};

// --- the forms ---

static int write_table(const struct missing *m, const struct missing_shard *shard UNUSED, struct buf *out,
	struct err *e UNUSED)
{
	missing_print(m, out);
	return 0;
}

static int write_json(const struct missing *m, const struct missing_shard *shard UNUSED, struct buf *out,
	struct err *e UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(m);
	jsondoc_write(doc, 2, out);
	return 0;
}

static const struct missing_form {
	const char *name;
	bool is_report; // it has rows of every status, and is not for building
	int (*write)(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e);
} forms[] = {
	{"table", true, write_table},
	{"json", true, write_json},
	{"requirements", false, missing_requirements},
	{"github", false, missing_github},
	{"jenkins", false, missing_jenkins},
	{"zuul", false, missing_zuul},
};

static int find_form(struct missing_command *x, struct err *e)
{
	const char *name = x->format ? x->format : x->settings.is_json ? "json" : "table";
	for (size_t i = 0; i < ARRAY_SIZE(forms) && !x->form; i++)
		if (strcmp(name, forms[i].name) == 0)
			x->form = &forms[i];
	return x->form ? 0
		       : err_set(e, ERR_USAGE,
				 "--format %s: expected table, json, requirements, github, jenkins or zuul", name);
}

// --- the command line ---

static const struct option_row options[] = {
	{"branch", 'b', "GLOB", "only branches whose names match GLOB", NO_KEY},
	{"view", '\0', "NAME", "only the platforms of this view, and only the wheels that it shows", NO_KEY},
	{"pure", '\0', NULL, "count wheels of pure Python projects as missing too", NO_KEY},
	{"all", 'a', NULL, "list rows of every status, not only what needs attention", NO_KEY},
	{"format", 'f', "FORM", "table, json, requirements, github, jenkins or zuul; table", NO_KEY},
	{"rebuild", '\0', "FILE", "count wheels in FILE, of rebuilds --json, as not there", NO_KEY},
	{"shard", '\0', "K/N", "only the K-th of N parts of the projects; not for table and json", NO_KEY},
	{"check", '\0', NULL, "exit with 1 if anything is missing or unknown", NO_KEY},
};

static int take_missing_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct missing_command *x = ctx;
	const struct command_flag flags[] = {
		{"pure", &x->options.wants_pure},
		{"all", &x->options.wants_all},
		{"offline", &x->options.is_offline},
		{"check", &x->checks},
	};
	const struct command_text texts[] = {
		{"branch", &x->options.branch},
		{"python", &x->options.python},
		{"format", &x->format},
		{"shard", &x->shard_text},
		{"output", &x->path},
		{"rebuild", &x->rebuild},
		{"view", &x->view},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return command_take_platforms(&x->globs, name, value, e);
}

static int check_line(struct missing_command *x, struct err *e)
{
	struct python ignored;
	struct err why = ERR_INIT;
	if (x->options.python && python_parse(str_from(x->options.python), &ignored, &why) < 0)
		return err_set(e, ERR_USAGE, "--python %s: not a version of Python, such as 3.12", x->options.python);
	if (x->format && x->settings.is_json && strcmp(x->format, "json") != 0)
		return err_set(e, ERR_USAGE, "--json excludes --format %s", x->format);
	if (find_form(x, e) < 0 || (x->shard_text && missing_shard_parse(x->shard_text, &x->shard, e) < 0))
		return -1;
	if (x->form->is_report && x->shard_text)
		return err_set(e, ERR_USAGE, "--shard is for what is built: not for --format %s", x->form->name);
	if (x->view && x->globs.count)
		return err_set(e, ERR_USAGE, "--view and --platform exclude each other");
	if (!x->form->is_report && x->view)
		return err_set(e, ERR_USAGE, "--view is for people: not for --format %s; builds are for all views",
			x->form->name);
	if (!x->form->is_report && x->options.wants_all)
		return err_set(e, ERR_USAGE, "--all is for people: not for --format %s", x->form->name);
	return 0;
}

// --- the output ---

static int write_missing(const struct missing_command *x, const struct missing *m, struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	if (x->form->write(m, &x->shard, &out, e) < 0)
		return -1;
	if (x->path)
		return output_file_write("--output", x->path, buf_view(&out), e);
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

// What has no wheel, or may have none. What cannot be built does not count.
static bool is_anything_missing(const struct missing *m)
{
	return m->total[WHEEL_MISSING] || m->total[WHEEL_UNPROMOTED] || m->total[WHEEL_UNKNOWN] ||
	       m->total[WHEEL_FAILED] || m->total[WHEEL_AWAITING];
}

// --- running ---

static int open_results(const struct config *c, const char *catalog, struct results **out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *path = results_path(c, catalog);
	if (results_open_read(path, out, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

// The platforms of the view become the globs.
static int take_view(struct missing_command *x, struct err *e)
{
	const struct config_view *v = x->view ? config_view(&x->config, x->view) : NULL;
	if (x->view && !v)
		return config_refuse_view(&x->config, x->view, ERR_USAGE, e);
	for (size_t i = 0; v && i < v->platform_count; i++)
		command_words_add(&x->globs, v->platforms[i]);
	x->options.view = v && v->from ? v->name : NULL;
	return 0;
}

// Returns the exit code, or -1.
static int report_missing(struct missing_command *x, const struct store *store, struct catalog *catalog, struct err *e)
{
	CLEANUP(missing_release) struct missing m = {0};
	CLEANUP(results_cleanup) struct results *results = NULL;
	if (open_results(&x->config, catalog_path(catalog), &results, e) < 0)
		return -1;
	if (x->rebuild && rebuild_set_read(x->rebuild, &x->rebuilds, e) < 0)
		return err_prefix(e, "--rebuild: ");
	if (take_view(x, e) < 0)
		return -1;
	x->options.platform = x->globs.item;
	x->options.platforms = x->globs.count;
	x->options.rebuild = x->rebuilds;
	x->options.progress = progress_look;
	x->options.ctx = &x->progress;
	progress_begin(&x->progress, !x->settings.is_quiet);
	int result = missing_make(&x->config, store, catalog, results, &x->options, &m, e);
	progress_end(&x->progress);
	if (result < 0 || write_missing(x, &m, e) < 0)
		return -1;
	return x->checks && is_anything_missing(&m) ? 1 : 0;
}

// Offline nothing is written, so that the command may run where the catalog is read-only.
static int open_and_report(struct missing_command *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path ||
		(x->options.is_offline ? catalog_open_read(path, &catalog, e) : catalog_open(path, &catalog, e)) < 0 ||
		site_check_find(&x->config, &store, catalog, e) < 0)
		return -1;
	retired_look(&store);
	return report_missing(x, &store, catalog, e);
}

static void missing_command_release(struct missing_command *x)
{
	config_release(&x->config);
	rebuild_set_free(x->rebuilds);
	command_words_release(&x->globs);
}

static int run_missing(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(missing_command_release) struct missing_command x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_missing_option, &x, e) < 0 ||
		check_line(&x, e) < 0)
		return err_exit_code(e->kind);
	int code = open_and_report(&x, e);
	return code < 0 ? err_exit_code(e->kind) : code;
}

const struct command command_missing = {
	.name = "missing",
	.arguments = "[STORE]",
	.help = "list what branches want and no wheel covers, and why",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(OFFLINE) | SHARED(UPSTREAM_URL) | SHARED(OUTPUT) |
		  SHARED(JSON) | SHARED(QUIET) | SHARED(PYTHON),
	.run = run_missing,
};

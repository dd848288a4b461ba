// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/output.h"
#include "cli/locked-output.h"
#include "cli/common/progress.h"
#include "cli/common/command.h"
#include "builder/missing/missing-json.h"
#include "builder/missing/ci-matrix.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/format/escape.h"
#include "lib/state/results/results.h"
#include "lib/state/store/retired.h"

struct missing_form;

struct missing_command {
	struct session s;
	struct missing_options options;
	const char *shard_text, *rebuild, *view; // NULL: not given
	struct rebuild_set *rebuilds;
	const struct missing_form *form;
	struct missing_shard shard;
	bool checks; // --check
	struct session_list locks, groups, extras;
	bool has_no_dev;
	struct progress progress;
};

// --- the table ---

enum { MOST_WIDTH = 48 }; // of the column with project and version

static int max_width(int width, const char *text)
{
	int len = (int)strlen(text);
	return len > width ? len : width;
}

static void put_totals(struct buf *out, const struct missing *m, int width, const char *platform, const char *python,
	const uint64_t total[WHEEL_STATUS_COUNT])
{
	buf_printf(out, "%-*s  %-6s", width, platform, python);
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "  %*" PRIu64, max_width(4, wheel_status_name[wheel_status_shown[i]]),
				total[wheel_status_shown[i]]);
	buf_putc(out, '\n');
}

static void put_all_totals(struct buf *out, const struct missing *m)
{
	int width = max_width(0, "platform");
	for (size_t i = 0; i < m->environments; i++)
		width = max_width(width, m->environment[i].platform);
	buf_printf(out, "%-*s  %-6s", width, "platform", "python");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "  %*s", max_width(4, wheel_status_name[wheel_status_shown[i]]),
				wheel_status_name[wheel_status_shown[i]]);
	buf_putc(out, '\n');
	for (size_t i = 0; i < m->environments; i++)
		put_totals(out, m, width, m->environment[i].platform, m->environment[i].python,
			m->environment[i].total);
	if (m->environments > 1)
		put_totals(out, m, width, "all", "", m->total);
}

static bool is_of_environment(const struct missing_row *row, const struct missing_row *other)
{
	return other && strcmp(row->platform, other->platform) == 0 && strcmp(row->python, other->python) == 0;
}

// The bytes of "project version".
static int name_width(const struct missing_row *row)
{
	return (int)(strlen(row->project) + (row->version ? 1 + strlen(row->version) : 0));
}

static int names_width(const struct missing *m, size_t from)
{
	int width = 0;
	for (size_t i = from; i < m->rows && is_of_environment(&m->row[i], &m->row[from]); i++)
		if (name_width(&m->row[i]) > width)
			width = name_width(&m->row[i]);
	return width < MOST_WIDTH ? width : MOST_WIDTH;
}

static void print_missing_row(struct buf *out, const struct missing_row *row, int width)
{
	int pad = width - name_width(row);
	buf_printf(out, "  %-10s  %s%s%s%*s  ", wheel_status_name[row->status], row->project, row->version ? " " : "",
		row->version ? row->version : "", pad > 0 ? pad : 0, "");
	escape_terminal(out, str_from(row->why));
	for (size_t i = 0; i < row->branches; i++)
		buf_printf(out, "%s%s", i ? " " : " [", row->branch[i]);
	buf_puts(out, row->branches ? "]\n" : "\n");
}

// --- the forms ---

static int write_table(const struct missing *m, const struct missing_shard *shard UNUSED, struct buf *out,
	struct err *e UNUSED)
{
	// The totals of each platform and Python, and then the rows.
	int width = 0;
	put_all_totals(out, m);
	for (size_t i = 0; i < m->branches; i++)
		if (m->branch[i].is_over)
			buf_printf(out, "Branch %s wants nothing: its last day was %s.\n", m->branch[i].name,
				m->branch[i].until);
	for (size_t i = 0; i < m->rows; i++) {
		if (!i || !is_of_environment(&m->row[i], &m->row[i - 1])) {
			buf_printf(out, "\n%s, Python %s\n", m->row[i].platform, m->row[i].python);
			width = names_width(m, i);
		}
		print_missing_row(out, &m->row[i], width);
	}
	return 0;
}

static int write_json(const struct missing *m, const struct missing_shard *shard UNUSED, struct buf *out,
	struct err *e UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(m);
	jsondoc_write(doc, 2, out);
	return 0;
}

enum { FORM_TABLE, FORM_JSON };
static const struct missing_form {
	const char *name;
	bool is_report; // it has rows of every status, and is not for building
	int (*write)(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e);
} forms[] = {
	[FORM_TABLE] = {"table", true, write_table},
	[FORM_JSON] = {"json", true, write_json},
	{"requirements", false, ci_matrix_requirements},
	{"github", false, ci_matrix_github},
	{"jenkins", false, ci_matrix_jenkins},
	{"zuul", false, ci_matrix_zuul},
};

// --- the command line ---

static int check_line(struct missing_command *x, struct err *e)
{
	struct python ignored;
	struct err why = ERR_INIT;
	if (x->s.python && python_parse(str_from(x->s.python), &ignored, &why) < 0)
		return err_set(e, ERR_USAGE, "--python %s: not a version of Python, such as 3.12", x->s.python);
	if (x->form && x->s.is_json && x->form != &forms[FORM_JSON])
		return err_set(e, ERR_USAGE, "--json excludes --format %s", x->form->name);
	if (!x->form)
		x->form = &forms[x->s.is_json ? FORM_JSON : FORM_TABLE];
	if (x->shard_text && missing_shard_parse(x->shard_text, &x->shard, e) < 0)
		return -1;
	if (x->form->is_report && x->shard_text)
		return err_set(e, ERR_USAGE, "--shard cannot be combined with --format %s", x->form->name);
	if (x->view && x->s.globs.count)
		return err_set(e, ERR_USAGE, "--view and --platform exclude each other");
	if (!x->form->is_report && x->view)
		return err_set(e, ERR_USAGE, "--view cannot be combined with --format %s: builds are for all views",
			x->form->name);
	if (!x->form->is_report && x->options.wants_all)
		return err_set(e, ERR_USAGE, "--all cannot be combined with --format %s", x->form->name);
	return 0;
}

// --- the output ---

// What has no wheel, or may have none. What cannot be built does not count.
static bool is_anything_missing(const struct missing *m)
{
	return m->total[WHEEL_MISSING] || m->total[WHEEL_UNPROMOTED] || m->total[WHEEL_UNKNOWN] ||
	       m->total[WHEEL_FAILED] || m->total[WHEEL_AWAITING] || m->total[WHEEL_COOLING];
}

// --- running ---

// The platforms of the view become the globs.
static int take_view(struct missing_command *x, struct err *e)
{
	const struct config_view *v = x->view ? config_view(&x->s.config, x->view) : NULL;
	if (x->view && !v)
		return config_refuse_view(&x->s.config, x->view, ERR_USAGE, e);
	for (size_t i = 0; v && i < v->platform_count; i++)
		session_list_add(&x->s, &x->s.globs, v->platforms[i]);
	x->options.view = v && v->from ? v->name : NULL;
	return 0;
}

static int check_lock_line(struct missing_command *x, struct err *e)
{
	const bool is_for_builds = !x->form->is_report;
	const char *other = x->options.branch       ? "branch"
			    : x->rebuild            ? "rebuild"
			    : x->options.wants_pure ? "pure"
						    : NULL;
	if (!x->locks.count && (x->groups.count || x->extras.count || x->has_no_dev))
		return err_set(e, ERR_USAGE, "--group, --extra and --no-dev are for --lock");
	if (x->locks.count && (is_for_builds || other))
		return err_set(e, ERR_USAGE, "--lock cannot be combined with --%s%s", is_for_builds ? "format " : other,
			is_for_builds ? x->form->name : "");
	if (x->groups.count && x->has_no_dev)
		return err_set(e, ERR_USAGE, "--group and --no-dev exclude each other");
	return 0;
}

// The words behind --lock are its files, but for a folder at the end, which is the STORE.
static void take_store_behind_locks(struct missing_command *x)
{
	const char *last = x->locks.count > 1 ? x->locks.item[x->locks.count - 1] : NULL;
	struct stat at;
	if (!last || stat(last, &at) < 0 || !S_ISDIR(at.st_mode))
		return;
	session_take_store(&x->s, last);
	x->locks.count--;
}

static int put_result(struct missing_command *x, struct err *e)
{
	struct buf *out = &x->s.out;
	if (x->s.output && output_write_file("--output", x->s.output, buf_view(out), e) < 0)
		return -1;
	if (x->s.output)
		buf_clear(out);
	return 0;
}

static int run_missing_locks(struct missing_command *x, struct err *e)
{
	struct session *s = &x->s;
	CLEANUP(locked_files_release) struct locked_files found = {0};
	const struct marker_choice choice = {
		.all_extras = !x->extras.count,
		.all_groups = !x->groups.count && !x->has_no_dev,
		.extra = x->extras.item,
		.extras = x->extras.count,
		.group = x->groups.item,
		.groups = x->groups.count,
	};
	progress_begin(&x->progress, !s->is_quiet);
	int result = locked_files_find(&s->config, &s->store, s->catalog, x->locks.item, x->locks.count, &choice,
		&x->options, &found, e);
	progress_end(&x->progress);
	if (result < 0)
		return -1;
	if (x->form == &forms[FORM_JSON])
		locked_output_json(&found, &s->out);
	else
		locked_output_table(&found, x->options.wants_all, &s->out);
	if (put_result(x, e) < 0)
		return -1;
	return x->checks && locked_output_fails(&found) ? 1 : 0;
}

// Offline nothing is written, so that the command may run where the catalog is read-only.
static int run_missing(void *self, struct err *e)
{
	struct missing_command *x = self;
	struct session *s = &x->s;
	CLEANUP(missing_release) struct missing m = {0};
	CLEANUP(results_cleanup) struct results *results = NULL;
	take_store_behind_locks(x);
	if (check_line(x, e) < 0 || check_lock_line(x, e) < 0 ||
		session_open(s, SESSION_STORE | SESSION_FIND | (s->is_offline ? SESSION_READ : SESSION_MAKE), e) < 0 ||
		results_open_of(&s->config, s->catalog_path, false, &results, e) < 0)
		return -1;
	retired_look(&s->store);
	if (x->rebuild && rebuild_set_read(x->rebuild, &x->rebuilds, e) < 0)
		return err_prefix(e, "--rebuild: ");
	if (take_view(x, e) < 0)
		return -1;
	x->options.python = s->python;
	x->options.is_offline = s->is_offline;
	x->options.platform = s->globs.item;
	x->options.platforms = s->globs.count;
	x->options.rebuild = x->rebuilds;
	x->options.progress = progress_look;
	x->options.ctx = &x->progress;
	if (x->locks.count)
		return run_missing_locks(x, e);
	progress_begin(&x->progress, !s->is_quiet);
	int result = missing_make(&s->config, &s->store, s->catalog, results, &x->options, &m, e);
	progress_end(&x->progress);
	if (result < 0)
		return -1;
	if (x->form->write(&m, &x->shard, &s->out, e) < 0 || put_result(x, e) < 0)
		return -1;
	return x->checks && is_anything_missing(&m) ? 1 : 0;
}

static void release_missing(void *self)
{
	rebuild_set_free(((struct missing_command *)self)->rebuilds);
}

static const struct option_row options[] = {
	{"branch", 'b', "GLOB", "only branches whose names match GLOB", TEXT(missing_command, options.branch)},
	{"view", '\0', "NAME", "only the platforms of this view, and only the wheels that it shows",
		TEXT(missing_command, view)},
	{"pure", '\0', NULL, "count wheels of pure Python projects as missing too",
		FLAG(missing_command, options.wants_pure)},
	{"all", 'a', NULL, "list rows of every status, not only what needs attention",
		FLAG(missing_command, options.wants_all)},
	{"format", 'f', "FORM", "table, json, requirements, github, jenkins or zuul; table",
		WORD(missing_command, form, forms)},
	{"rebuild", '\0', "FILE", "count wheels in FILE, of rebuilds --json, as not there",
		TEXT(missing_command, rebuild)},
	{"shard", '\0', "K/N", "only the K-th of N parts of the projects; not for table and json",
		TEXT(missing_command, shard_text)},
	{"lock", '\0', "FILE...", "what these lock files name, instead of what branches want",
		LIST(missing_command, locks)},
	{"group", '\0', "NAME", "of the groups of --lock only this one; several times", LIST(missing_command, groups)},
	{"extra", '\0', "NAME", "of the extras of --lock only this one; several times", LIST(missing_command, extras)},
	{"no-dev", '\0', NULL, "none of the groups of --lock", FLAG(missing_command, has_no_dev)},
	{"check", '\0', NULL, "exit with 1 if anything is missing or unknown", FLAG(missing_command, checks)},
};

const struct command command_missing = {
	.name = "missing",
	.arguments = "[STORE]",
	.help = "list what branches want and no wheel covers, and why",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(OFFLINE) | SHARED(UPSTREAM_URL) | SHARED(OUTPUT) |
		  SHARED(JSON) | SHARED(QUIET) | SHARED(PYTHON),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct missing_command),
	.run = run_missing,
	.release = release_missing,
};

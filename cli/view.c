// SPDX-License-Identifier: Apache-2.0
// What a view with a membership showed when, and going back. Each command takes the name of one view.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/view-command.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "promoter/demote.h"

#define LOG_MOST "20"
enum { FILES_SHOWN = 10 }; // of a generation, as text

// --- the command line ---

static int take_number(const char *option, const char *text, uint64_t *out, struct err *e)
{
	if (decimal_parse(str_from(text), INT64_MAX, out) && *out)
		return 0;
	return err_set(e, ERR_USAGE, "%s %s: not a number from 1 on", option, text);
}

// --- view log ---

static const struct option_row log_options[] = {
	{"most", '\0', "N", "only the newest N generations; " LOG_MOST, NO_KEY},
};

struct view_log {
	struct catalog *catalog;
	struct jsondoc *rows; // NULL: text
	struct buf text;
};

static void view_log_release(struct view_log *l)
{
	jsondoc_cleanup(&l->rows);
	buf_release(&l->text);
}

static void add_log_json(struct view_log *l, const struct catalog_generation *g, const struct generation_files *of,
	const char *made)
{
	struct jsondoc *files = jsondoc_array();
	struct jsondoc *row = jsondoc_object();
	jsondoc_put_int(row, "generation", g->number);
	jsondoc_put_str(row, "made", made);
	jsondoc_put_str(row, "action", g->action);
	jsondoc_put_str(row, "by", g->by);
	jsondoc_put_str(row, "reason", g->reason);
	jsondoc_put_int(row, "added", (int64_t)g->added);
	jsondoc_put_int(row, "removed", (int64_t)g->removed);
	for (size_t i = 0; i < of->files; i++)
		jsondoc_add(files, generation_file_json(&of->file[i]));
	jsondoc_put(row, "files", files);
	jsondoc_add(l->rows, row);
}

// Overrides are told of in any case.
static void add_log_files(struct view_log *l, const struct catalog_generation *g, const struct generation_files *of)
{
	size_t hidden = 0;
	for (size_t i = 0; i < of->files; i++) {
		if (i < FILES_SHOWN || of->file[i].override)
			view_command_put_file(&of->file[i], &l->text);
		else
			hidden++;
	}
	if (hidden)
		buf_printf(&l->text, "        and %zu more: wheelcache view diff VIEW %" PRId64 " %" PRId64 "\n", hidden,
			g->number - 1, g->number);
}

static int add_log_row(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct view_log *l = ctx;
	char made[CLOCK_TEXT];
	CLEANUP(generation_files_release) struct generation_files of = {0};
	if (generation_files_read(l->catalog, g->packed, LIMIT_MEMBERSHIP, &of, e) < 0)
		return -1;
	clock_write(g->made, made);
	if (l->rows) {
		add_log_json(l, g, &of, made);
		return 0;
	}
	buf_printf(&l->text, "%6" PRId64 "  %s  %-8s +%" PRIu64 " -%" PRIu64 "  ", g->number, made, g->action, g->added,
		g->removed);
	escape_terminal(&l->text, str_from(g->by));
	buf_puts(&l->text, *g->reason ? ": " : "");
	escape_terminal(&l->text, str_from(g->reason));
	buf_putc(&l->text, '\n');
	add_log_files(l, g, &of);
	return 0;
}

static int print_log(const struct view_command *x, uint64_t most, struct err *e)
{
	CLEANUP(view_log_release)
	struct view_log l = {.catalog = x->all.catalog, .rows = x->all.settings.is_json ? jsondoc_array() : NULL};
	buf_init(&l.text, SIZE_MAX / 2);
	if (catalog_view_generations(x->all.catalog, x->name, INT64_MAX, most, add_log_row, &l, e) < 0)
		return -1;
	if (l.rows) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "view", x->name);
		jsondoc_put(doc, "generations", STEAL_PTR(l.rows));
		jsondoc_write(doc, 2, &l.text);
	} else if (!l.text.len) {
		buf_printf(&l.text, "%s: nothing was ever promoted\n", x->name);
	}
	return promotion_common_write(buf_view(&l.text), e);
}

static int run_view_log(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(view_command_release) struct view_command x = {.most = LOG_MOST};
	uint64_t most;
	if (view_command_open(&x, self, argc, argv, 0, false, e) < 0 || take_number("--most", x.most, &most, e) < 0 ||
		print_log(&x, most, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_view_log = {
	.name = "view log",
	.arguments = "VIEW",
	.help = "list what was promoted, demoted and rolled back",
	.options = log_options,
	.option_count = ARRAY_SIZE(log_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.run = run_view_log,
};

// --- view show ---

static const struct option_row show_options[] = {
	{"at", '\0', "ID|TIME", "as it was in this generation, or then: 2026-11-20 is the end of that day (UTC)",
		NO_KEY},
};

// The arguments of add_shown_member.
struct view_show {
	struct jsondoc *rows; // NULL: text
	struct buf text;
};

static void view_show_release(struct view_show *s)
{
	jsondoc_cleanup(&s->rows);
	buf_release(&s->text);
}

static void add_member_json(struct view_show *s, const struct catalog_member *m)
{
	char sha256[SHA256_HEX + 1] = "";
	struct jsondoc *row = jsondoc_object();
	hex_encode(m->sha256, SHA256_SIZE, sha256);
	jsondoc_put_str(row, "platform", m->platform_name);
	jsondoc_put_str(row, "project", m->project);
	jsondoc_put_str(row, "filename", m->filename);
	jsondoc_put_str(row, "sha256", sha256);
	jsondoc_put_int(row, "since", m->since);
	jsondoc_put_bool(row, "listed", m->is_listed);
	jsondoc_add(s->rows, row);
}

static int add_shown_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct view_show *s = ctx;
	if (s->rows) {
		add_member_json(s, m);
		return 0;
	}
	buf_printf(&s->text, "%6" PRId64 "  %s/", m->since, m->platform_name);
	escape_terminal(&s->text, str_from(m->filename));
	buf_puts(&s->text, m->is_listed ? "\n" : "  (not listed: no page shows it)\n");
	return 0;
}

static int print_members(const struct view_command *x, int64_t generation, struct err *e)
{
	CLEANUP(view_show_release)
	struct view_show s = {.rows = x->all.settings.is_json ? jsondoc_array() : NULL};
	buf_init(&s.text, SIZE_MAX / 2);
	if (catalog_view_members(x->all.catalog, x->name, generation, NULL, add_shown_member, &s, e) < 0)
		return -1;
	if (s.rows) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "view", x->name);
		jsondoc_put_int(doc, "generation", generation);
		jsondoc_put(doc, "files", STEAL_PTR(s.rows));
		jsondoc_write(doc, 2, &s.text);
	} else if (!s.text.len) {
		fprintf(stderr, "view %s is empty\n", x->name);
	}
	return promotion_common_write(buf_view(&s.text), e);
}

static int show_view(const struct view_command *x, struct err *e)
{
	int64_t generation;
	if (view_command_newest(x, &generation, e) < 0 ||
		(x->at && view_command_generation(x, "--at ", x->at, &generation, e) < 0) ||
		view_command_check_generation(x, generation, e) < 0)
		return -1;
	return print_members(x, generation, e);
}

static int run_view_show(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(view_command_release) struct view_command x = {0};
	if (view_command_open(&x, self, argc, argv, 0, false, e) < 0 || show_view(&x, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_view_show = {
	.name = "view show",
	.arguments = "VIEW",
	.help = "list the files that were promoted, with the generation of each",
	.options = show_options,
	.option_count = ARRAY_SIZE(show_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.run = run_view_show,
};

// --- view rollback ---

static const struct option_row rollback_options[] = {
	{"to", '\0', "ID|TIME",
		"to this generation, or to what there was then: 2026-11-20 is the end of that day (UTC)", NO_KEY},
	{"steps", '\0', "N", "back by N generations", NO_KEY},
};

static int find_rollback_target(const struct view_command *x, int64_t *out, struct err *e)
{
	uint64_t steps;
	int64_t newest;
	if (!x->to == !x->steps)
		return err_set(e, ERR_USAGE, "one of --to and --steps is needed");
	if (x->to && view_command_generation(x, "--to ", x->to, out, e) < 0)
		return -1;
	if (x->to)
		return *out || strcmp(x->to, "0") == 0
			       ? 0
			       : err_set(e, ERR_USAGE, "--to %s: view %s had no generation then; --to 0 empties it",
					 x->to, x->name);
	if (take_number("--steps", x->steps, &steps, e) < 0 || view_command_newest(x, &newest, e) < 0)
		return -1;
	*out = newest - (int64_t)steps;
	if (*out >= 0)
		return 0;
	return err_set(e, ERR_USAGE, "--steps %s: view %s has only %" PRId64 " generations", x->steps, x->name, newest);
}

static int roll_view_back(const struct view_command *x, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	const struct promotion_common *all = &x->all;
	int64_t target;
	if (find_rollback_target(x, &target, e) < 0 ||
		rollback_run(&all->site, all->catalog, all->audit, x->name, target, x->reason ? x->reason : "", all->by,
			all->settings.is_dry_run, &answer, e) < 0)
		return -1;
	return promotion_common_print(all, &answer, x->name, e);
}

static int run_view_rollback(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(view_command_release) struct view_command x = {0};
	if (view_command_open(&x, self, argc, argv, 0, true, e) < 0 || roll_view_back(&x, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_view_rollback = {
	.name = "view rollback",
	.arguments = "VIEW",
	.help = "go back to an earlier generation; that is a new one with the same files",
	.options = rollback_options,
	.option_count = ARRAY_SIZE(rollback_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_view_rollback,
};

// --- the group ---

static const struct command *const rows[] = {
	&command_view_diff,
	&command_view_log,
	&command_view_repair,
	&command_view_rollback,
	&command_view_show,
	NULL,
};

const struct command command_view = {
	.name = "view",
	.help = "what was promoted into a view, and going back: diff, log, repair, rollback, show",
	.rows = rows,
	.run = command_run_row,
};

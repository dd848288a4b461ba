// SPDX-License-Identifier: Apache-2.0
// What a view with a membership showed when, and going back. Each command but repair takes the name of one view.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/promotion-common.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-repair.h"
#include "lib/state/views/views-sync.h"
#include "promoter/promote.h"
#include "promoter/generation-files.h"

enum { LOG_MOST = 20, FILES_SHOWN = 10 }; // FILES_SHOWN: of a generation, as text

struct view_command {
	struct session s;
	const char *name;    // of the view
	const char *to, *at; // NULL: not given
	uint64_t steps;      // 0: not given
	uint64_t most;       // 0: not given
	uint64_t found;      // by repair
};

// Takes VIEW and this number of further words, and opens all.
static int open_view(struct view_command *x, size_t words, bool writes, struct err *e)
{
	struct session *s = &x->s;
	if (s->words != 1 + words)
		return err_set(e, ERR_USAGE, "expected %s", words ? "VIEW and two generations" : "one VIEW");
	x->name = s->word[0];
	writes = writes && !s->is_dry_run;
	if (session_open(s, SESSION_VIEWS | (writes ? SESSION_MAKE | SESSION_AUDIT : 0), e) < 0)
		return -1;
	return promotion_common_check_view(s, x->name, e);
}

// {"view": NAME}
static struct jsondoc *begin_view_json(const struct view_command *x)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "view", x->name);
	return doc;
}

// --- generations ---

// 0: there is none.
static int newest_generation(const struct view_command *x, int64_t *out, struct err *e)
{
	struct catalog_view known;
	if (catalog_view_find(x->s.catalog, x->name, &known, e) < 0)
		return -1;
	*out = known.generation;
	return 0;
}

// The generation of a number, a date (its end) or a time. what names the word in the error.
static int read_generation(const struct view_command *x, const char *what, const char *text, int64_t *out,
	struct err *e)
{
	int64_t when;
	uint64_t number;
	if (decimal_parse(str_from(text), INT64_MAX, &number)) {
		*out = (int64_t)number;
		return 0;
	}
	if (clock_read_end(text, &when))
		return catalog_view_at(x->s.catalog, x->name, when, out, e);
	return err_set(e, ERR_USAGE,
		"%s%s: neither the number of a generation nor a time as 2026-11-20 or 2026-11-20T06:00:00Z", what,
		text);
}

// ERR_USAGE: the view has no such generation.
static int check_generation(const struct view_command *x, int64_t generation, struct err *e)
{
	int64_t newest;
	if (newest_generation(x, &newest, e) < 0)
		return -1;
	if (generation <= newest)
		return 0;
	return err_set(e, ERR_USAGE, "view %s has no generation %" PRId64 ": the newest is %" PRId64, x->name,
		generation, newest);
}

// Appends a line for a file: "  + PLATFORM/FILE (override by BY: REASON)".
static void put_generation_file(const struct generation_file *f, struct buf *out)
{
	buf_printf(out, "        %c %s/", f->is_removed ? '-' : '+', f->platform);
	escape_terminal(out, str_from(f->filename));
	if (f->override) {
		buf_puts(out, " (override by ");
		escape_terminal(out, str_from(f->override_by));
		buf_puts(out, ": ");
		escape_terminal(out, str_from(f->override));
		buf_putc(out, ')');
	}
	buf_puts(out, f->testeds ? " (" : "");
	membership_tested_words(f->tested, f->testeds, out);
	buf_puts(out, f->testeds ? ")\n" : "\n");
}

// --- view log ---

// Overrides are told of in any case.
static void add_log_files(struct view_command *x, const struct catalog_generation *g, const struct generation_files *of)
{
	size_t hidden = 0;
	for (size_t i = 0; i < of->files; i++) {
		if (i < FILES_SHOWN || of->file[i].override)
			put_generation_file(&of->file[i], &x->s.out);
		else
			hidden++;
	}
	if (hidden)
		buf_printf(&x->s.out, "        and %zu more: wheelcache view diff VIEW %" PRId64 " %" PRId64 "\n",
			hidden, g->number - 1, g->number);
}

static int add_log_row(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct view_command *x = ctx;
	char made[CLOCK_TEXT];
	CLEANUP(generation_files_release) struct generation_files of = {0};
	if (generation_files_read(x->s.catalog, g->packed, LIMIT_MEMBERSHIP, &of, e) < 0)
		return -1;
	clock_write(g->made, made);
	if (x->s.rows) {
		struct jsondoc *files = jsondoc_array();
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_int(row, "generation", g->number);
		jsondoc_put_str(row, "made", made);
		jsondoc_put_str(row, "action", g->action);
		jsondoc_put_str(row, "by", g->by);
		jsondoc_put_str(row, "reason", g->reason);
		jsondoc_put_int(row, "added", (int64_t)g->added);
		jsondoc_put_int(row, "removed", (int64_t)g->removed);
		for (size_t i = 0; i < of.files; i++)
			jsondoc_add(files, generation_file_json(&of.file[i]));
		jsondoc_put(row, "files", files);
		jsondoc_add(x->s.rows, row);
		return 0;
	}
	buf_printf(&x->s.out, "%6" PRId64 "  %s  %-8s +%" PRIu64 " -%" PRIu64 "  ", g->number, made, g->action,
		g->added, g->removed);
	escape_terminal(&x->s.out, str_from(g->by));
	buf_puts(&x->s.out, *g->reason ? ": " : "");
	escape_terminal(&x->s.out, str_from(g->reason));
	buf_putc(&x->s.out, '\n');
	add_log_files(x, g, &of);
	return 0;
}

static int run_view_log(void *self, struct err *e)
{
	struct view_command *x = self;
	if (open_view(x, 0, false, e) < 0 || catalog_view_generations(x->s.catalog, x->name, INT64_MAX,
						     x->most ? x->most : LOG_MOST, add_log_row, x, e) < 0)
		return -1;
	if (x->s.rows)
		session_json_rows(&x->s, begin_view_json(x), "generations");
	else if (!x->s.out.len)
		buf_printf(&x->s.out, "%s: nothing was ever promoted\n", x->name);
	return 0;
}

static const struct option_row log_options[] = {
	{"most", '\0', "N", "only the newest N generations; 20", COUNT(view_command, most)},
};

static const struct command command_view_log = {
	.name = "view log",
	.arguments = "VIEW",
	.help = "list what was promoted, demoted and rolled back",
	OPTIONS(log_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.size = sizeof(struct view_command),
	.run = run_view_log,
};

// --- view show ---

static int add_shown_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct view_command *x = ctx;
	if (x->s.rows) {
		char sha256[SHA256_HEX + 1] = "";
		struct jsondoc *row = jsondoc_object();
		hex_encode(m->sha256, SHA256_SIZE, sha256);
		jsondoc_put_str(row, "platform", m->platform_name);
		jsondoc_put_str(row, "project", m->project);
		jsondoc_put_str(row, "filename", m->filename);
		jsondoc_put_str(row, "sha256", sha256);
		jsondoc_put_int(row, "since", m->since);
		jsondoc_put_bool(row, "listed", m->is_listed);
		jsondoc_add(x->s.rows, row);
		return 0;
	}
	buf_printf(&x->s.out, "%6" PRId64 "  %s/", m->since, m->platform_name);
	escape_terminal(&x->s.out, str_from(m->filename));
	buf_puts(&x->s.out, m->is_listed ? "\n" : "  (not listed: no page shows it)\n");
	return 0;
}

static int run_view_show(void *self, struct err *e)
{
	struct view_command *x = self;
	int64_t generation;
	if (open_view(x, 0, false, e) < 0 || newest_generation(x, &generation, e) < 0 ||
		(x->at && read_generation(x, "--at ", x->at, &generation, e) < 0) ||
		check_generation(x, generation, e) < 0 ||
		catalog_view_members(x->s.catalog, x->name, generation, NULL, add_shown_member, x, e) < 0)
		return -1;
	if (x->s.rows) {
		struct jsondoc *doc = begin_view_json(x);
		jsondoc_put_int(doc, "generation", generation);
		session_json_rows(&x->s, doc, "files");
	} else if (!x->s.out.len) {
		fprintf(stderr, "view %s is empty\n", x->name);
	}
	return 0;
}

static const struct option_row show_options[] = {
	{"at", '\0', "ID|TIME", "as it was in this generation, or then: 2026-11-20 is the end of that day (UTC)",
		TEXT(view_command, at)},
};

static const struct command command_view_show = {
	.name = "view show",
	.arguments = "VIEW",
	.help = "list the files that were promoted, with the generation of each",
	OPTIONS(show_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.size = sizeof(struct view_command),
	.run = run_view_show,
};

// --- view rollback ---

static int find_rollback_target(const struct view_command *x, int64_t *out, struct err *e)
{
	int64_t newest;
	if (!x->to == !x->steps)
		return err_set(e, ERR_USAGE, "one of --to and --steps is needed");
	if (x->to && read_generation(x, "--to ", x->to, out, e) < 0)
		return -1;
	if (x->to)
		return *out || strcmp(x->to, "0") == 0
			       ? 0
			       : err_set(e, ERR_USAGE, "--to %s: view %s had no generation then; --to 0 empties it",
					 x->to, x->name);
	if (newest_generation(x, &newest, e) < 0)
		return -1;
	*out = newest - (int64_t)x->steps;
	if (*out >= 0)
		return 0;
	return err_set(e, ERR_USAGE, "--steps %" PRIu64 ": view %s has only %s", x->steps, x->name,
		COUNTED((uint64_t)newest, "generation|generations"));
}

static int run_view_rollback(void *self, struct err *e)
{
	struct view_command *x = self;
	struct session *s = &x->s;
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	int64_t target;
	if (open_view(x, 0, true, e) < 0 || find_rollback_target(x, &target, e) < 0 ||
		rollback_run(&s->site, s->catalog, s->audit, x->name, target, s->reason ? s->reason : "",
			session_account(s), s->is_dry_run, &answer, e) < 0)
		return -1;
	promotion_common_print(s, &answer, x->name);
	return 0;
}

static const struct option_row rollback_options[] = {
	{"to", '\0', "ID|TIME",
		"to this generation, or to what there was then: 2026-11-20 is the end of that day (UTC)",
		TEXT(view_command, to)},
	{"steps", '\0', "N", "back by N generations", COUNT(view_command, steps)},
};

static const struct command command_view_rollback = {
	.name = "view rollback",
	.arguments = "VIEW",
	.help = "go back to an earlier generation; that is a new one with the same files",
	OPTIONS(rollback_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct view_command),
	.run = run_view_rollback,
};

// --- view diff: what came and what left, with the overrides by which files came ---

// The members of a generation, sorted.
struct diff_members {
	struct arena *arena;
	struct catalog_member *item;
	size_t count, room;
};

static int keep_member(void *ctx, const struct catalog_member *from, struct err *e UNUSED)
{
	struct diff_members *m = ctx;
	ARENA_GROW(m->arena, m->item, m->count, m->room);
	struct catalog_member *to = &m->item[m->count++];
	*to = *from;
	to->platform_name = arena_strdup(m->arena, from->platform_name);
	to->project = arena_strdup(m->arena, from->project);
	to->filename = arena_strdup(m->arena, from->filename);
	to->sha256 = arena_memdup(m->arena, from->sha256, SHA256_SIZE);
	return 0;
}

static int compare_diff_members(const void *a, const void *b)
{
	const struct catalog_member *x = a, *y = b;
	int order = strcmp(x->project, y->project);
	order = order ? order : strcmp(x->filename, y->filename);
	order = order ? order : strcmp(x->platform_name, y->platform_name);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

static int read_diff_members(struct view_command *x, int64_t generation, struct diff_members *out, struct err *e)
{
	*out = (struct diff_members){.arena = &x->s.arena};
	if (catalog_view_members(x->s.catalog, x->name, generation, NULL, keep_member, out, e) < 0)
		return -1;
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), compare_diff_members);
	return 0;
}

struct view_diff {
	struct view_command *command;
	struct generation_files of; // of the generation `since`: members that came together follow each other often
	int64_t since;
	size_t added, removed;
};

static void view_diff_release(struct view_diff *d)
{
	generation_files_release(&d->of);
}

static int take_generation_files(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct view_diff *d = ctx;
	if (g->number != d->since)
		return 0;
	return generation_files_read(d->command->s.catalog, g->packed, LIMIT_MEMBERSHIP, &d->of, e);
}

// Finds the override, or the tests of other builds, by which an added file came.
static int find_origin(struct view_diff *d, int64_t since, struct generation_file *file, struct err *e)
{
	if (since != d->since) {
		generation_files_release(&d->of);
		d->since = since;
		if (catalog_view_generations(d->command->s.catalog, d->command->name, since + 1, 1,
			    take_generation_files, d, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < d->of.files; i++) {
		const struct generation_file *f = &d->of.file[i];
		if (!f->is_removed && strcmp(f->filename, file->filename) == 0 &&
			strcmp(f->platform, file->platform) == 0) {
			file->override = f->override;
			file->override_by = f->override_by;
			file->tested = f->tested;
			file->testeds = f->testeds;
		}
	}
	return 0;
}

static int add_diff_row(struct view_diff *d, const struct catalog_member *m, bool is_removed, struct err *e)
{
	struct generation_file file = {
		.platform = m->platform_name, .project = m->project, .filename = m->filename, .is_removed = is_removed};
	memcpy(file.sha256, m->sha256, SHA256_SIZE);
	*(is_removed ? &d->removed : &d->added) += 1;
	if (!is_removed && find_origin(d, m->since, &file, e) < 0)
		return -1;
	if (d->command->s.rows)
		jsondoc_add(d->command->s.rows, generation_file_json(&file));
	else
		put_generation_file(&file, &d->command->s.out);
	return 0;
}

// Both are sorted.
static int compare_both(struct view_diff *d, const struct diff_members *before, const struct diff_members *after,
	struct err *e)
{
	for (size_t i = 0, k = 0; i < before->count || k < after->count;) {
		int order = i == before->count  ? 1
			    : k == after->count ? -1
						: compare_diff_members(&before->item[i], &after->item[k]);
		if ((order < 0 && add_diff_row(d, &before->item[i], true, e) < 0) ||
			(order > 0 && add_diff_row(d, &after->item[k], false, e) < 0))
			return -1;
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

static int run_view_diff(void *self, struct err *e)
{
	struct view_command *x = self;
	int64_t from, to;
	struct diff_members before, after;
	CLEANUP(view_diff_release) struct view_diff d = {.command = x};
	if (open_view(x, 2, false, e) < 0 || read_generation(x, "", x->s.word[1], &from, e) < 0 ||
		read_generation(x, "", x->s.word[2], &to, e) < 0 || check_generation(x, from, e) < 0 ||
		check_generation(x, to, e) < 0 || read_diff_members(x, from, &before, e) < 0 ||
		read_diff_members(x, to, &after, e) < 0 || compare_both(&d, &before, &after, e) < 0)
		return -1;
	if (x->s.rows) {
		struct jsondoc *doc = begin_view_json(x);
		jsondoc_put_int(doc, "from", from);
		jsondoc_put_int(doc, "to", to);
		session_json_rows(&x->s, doc, "files");
	} else {
		buf_printf(&x->s.out, "%s: generation %lld to %lld: +%zu -%zu\n", x->name, (long long)from,
			(long long)to, d.added, d.removed);
	}
	return 0;
}

static const struct command command_view_diff = {
	.name = "view diff",
	.arguments = "VIEW FROM TO",
	.help = "list what came and what left between two generations or times",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.size = sizeof(struct view_command),
	.run = run_view_diff,
};

// --- view repair ---

static void tell_repaired(struct view_command *x, const char *what, const char *noun, uint64_t count)
{
	if (x->s.rows) {
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_str(row, "name", what);
		jsondoc_put_int(row, noun, (int64_t)count);
		jsondoc_add(x->s.rows, row);
	} else if (count && !x->s.is_quiet) {
		buf_printf(&x->s.out, "%s: %" PRIu64 " %s with a time in the future%s\n", what, count, noun,
			x->s.is_dry_run ? "" : " have another now");
	}
	x->found += count;
}

static void write_repaired(struct view_command *x)
{
	struct session *s = &x->s;
	char now[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), now);
	if (s->is_json) {
		struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "now", now);
		jsondoc_put_bool(doc, "dry_run", s->is_dry_run);
		session_json_rows(s, doc, "repaired");
	} else if (!s->is_quiet && !x->found) {
		buf_printf(&s->out, "nothing has a time in the future; the clock says %s\n", now);
	} else if (!s->is_quiet && s->is_dry_run) {
		buf_printf(&s->out, "the clock says %s (dry run: nothing was changed)\n", now);
	}
}

static int run_view_repair(void *self, struct err *e)
{
	struct view_command *x = self;
	struct session *s = &x->s;
	CLEANUP(mem_free) char *folder = NULL;
	CLEANUP(strset_release) struct strset views = {0};
	uint64_t count = 0;
	if (s->words)
		return err_set(e, ERR_USAGE, "%s: it repairs all views, and takes no name", s->word[0]);
	if (session_open(s, SESSION_VIEWS | (s->is_dry_run ? 0 : SESSION_MAKE | SESSION_AUDIT), e) < 0 ||
		views_folder(&s->config, &folder, e) < 0 || views_find_folders(folder, false, &views, e) < 0)
		return -1;
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++) {
		if (views_repair_view(folder, s->catalog, views.item[i], session_account(s), s->is_dry_run, &count, e) <
			0)
			return -1;
		tell_repaired(x, views.item[i], "generations", count);
	}
	if (views_repair_evidence(folder, s->catalog, s->is_dry_run, &count, e) < 0)
		return -1;
	tell_repaired(x, "evidence", "records", count);
	write_repaired(x);
	return 0;
}

static const struct command command_view_repair = {
	.name = "view repair",
	.help = "after a clock was ahead: give what has a time in the future another one",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct view_command),
	.run = run_view_repair,
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
};

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/step/attempt.h"
#include "cli/common/command.h"
#include "cli/common/output.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/config/config-type.h"
#include "lib/state/results/results-json.h"
#include "lib/state/results/results.h"

enum { SHORT_ID = 10 }; // digits of an id in the table

struct builds_command {
	struct session s;
	struct results_filter filter;
	const char *project, *since, *log;
};

// --- the list ---

struct build_lines {
	struct session *s;
	struct output_table table;
};

static const char *took_text(struct arena *arena, const struct results_attempt *a)
{
	unsigned seconds = (unsigned)a->seconds;
	if (a->result == RESULTS_RUNNING)
		seconds = (unsigned)(clock_wall_seconds() - a->begun);
	if (seconds < 120)
		return arena_printf(arena, "%us", seconds);
	if (seconds < 7200)
		return arena_printf(arena, "%um", seconds / 60);
	return arena_printf(arena, "%uh%02um", seconds / 3600, seconds / 60 % 60);
}

static const char *result_text(struct arena *arena, const struct results_attempt *a)
{
	const char *name = results_result_name[a->result];
	if (a->result == RESULTS_OK || !*a->step)
		return name;
	return arena_printf(arena, "%s (%s)", name, a->step);
}

static const char *begun_text(struct arena *arena, const struct results_attempt *a)
{
	char begun[CLOCK_TEXT];
	clock_write(a->begun, begun);
	begun[10] = ' ';
	return arena_copy(arena, (struct str){begun, 16});
}

static int add_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct build_lines *l = ctx;
	struct arena *arena = &l->s->arena;
	CLEANUP(buf_release) struct buf why = buf_up_to(SIZE_MAX / 2);
	if (l->s->rows) {
		jsondoc_add(l->s->rows, results_json(a));
		return 0;
	}
	escape_terminal(&why, str_from(a->why));
	const char *const cell[] = {begun_text(arena, a), arena_copy(arena, str_from(a->platform)),
		arena_copy(arena, str_from(a->python)), arena_printf(arena, "%s %s", a->project, a->version),
		result_text(arena, a), took_text(arena, a), arena_copy(arena, str_head(str_from(a->id), SHORT_ID)),
		arena_copy(arena, buf_view(&why))};
	output_table_add(arena, &l->table, cell);
	return 0;
}

// --- one log ---

// On a terminal a log could move the cursor, or do worse. A file gets its bytes.
static void print_log(struct str log)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	if (isatty(STDOUT_FILENO) == 1)
		escape_terminal_text(&text, log);
	else
		buf_str(&text, log);
	fwrite(text.data, 1, text.len, stdout);
}

static int keep_work_folder(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct err ignored = ERR_INIT;
	char **folder = ctx;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = a->result == RESULTS_RUNNING ? jsondoc_read(str_from(a->provenance), &ignored) : NULL;
	const char *work = doc ? jsondoc_get_str(doc, "work") : NULL;
	*folder = work ? xstrdup(work) : NULL;
	return 0;
}

static int print_one_log(struct results *r, const char *digits, struct err *e)
{
	char id[RESULTS_ID + 1];
	CLEANUP(buf_release) struct buf log = buf_up_to(LIMIT_RESULT_LOG);
	if (!r)
		return err_set(e, ERR_NOT_FOUND, "no attempt to build a wheel is recorded");
	if (results_find_id(r, digits, id, e) < 0)
		return -1;
	// The log of a running attempt is a file that grows, in the work folder that its provenance names. An attempt
	// that ends meanwhile has its log in the results.
	CLEANUP(mem_free) char *folder = NULL;
	struct err ignored = ERR_INIT;
	if (results_find(r, id, keep_work_folder, &folder, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = folder ? attempt_log_path(folder, id) : NULL;
	if (!path || safefile_read(path, &log, &ignored) != 0) {
		buf_clear(&log);
		if (results_log(r, id, &log, e) < 0)
			return -1;
	}
	print_log(buf_view(&log));
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "standard output");
}

// --- the command ---

static int run_builds(void *self, struct err *e)
{
	struct builds_command *x = self;
	struct session *s = &x->s;
	CLEANUP(results_cleanup) struct results *r = NULL;
	x->filter.python = s->python;
	if (x->project)
		x->filter.project = session_project(s, str_from(x->project));
	if (x->since && since_read(x->since, &x->filter.since, e) < 0)
		return err_prefix(e, "--since: ");
	if (session_read(s, &s->config, e) < 0)
		return -1;
	if (s->config.build_results && !s->config.state)
		s->catalog_path = xstrdup("");
	else if (session_locate(s, false, e) < 0)
		return -1;
	if (results_open_of(&s->config, s->catalog_path, false, &r, e) < 0)
		return -1;
	if (x->log)
		return print_one_log(r, x->log, e);
	static const char *const head[] = {
		"BEGUN (UTC)", "PLATFORM", "PYTHON", "PROJECT", "RESULT", "TIME", "ID", "WHY"};
	struct build_lines lines = {.s = &x->s, .table = {.columns = ARRAY_SIZE(head)}};
	output_table_add(&x->s.arena, &lines.table, head);
	if (r && results_list(r, &x->filter, add_attempt, &lines, e) < 0)
		return -1;
	if (x->s.rows)
		session_json_rows(&x->s, jsondoc_object(), "attempts");
	else if (lines.table.count > ARRAY_SIZE(head))
		output_table_print(&lines.table, &x->s.out);
	else
		log_info("no attempt to build a wheel is recorded%s", r ? " that matches" : "");
	return 0;
}

static const struct option_row options[] = {
	{"platform", 'p', "GLOB", "only for platforms that match GLOB", TEXT(builds_command, filter.platform)},
	{"project", '\0', "GLOB", "only of projects whose normalised name matches GLOB", TEXT(builds_command, project)},
	{"failed", '\0', NULL, "only what fails now: the newest attempt of its platform, Python and project",
		FLAG(builds_command, filter.only_failed)},
	{"since", '\0', "TIME", "only attempts since this time, such as 2026-11-22, or for so long, such as 7d",
		TEXT(builds_command, since)},
	{"log", '\0', "ID", "print the log of this attempt; the first digits of its ID suffice",
		TEXT(builds_command, log)},
};

const struct command command_builds = {
	.name = "builds",
	.arguments = "[STORE]",
	.help = "list the attempts to build wheels, and print their logs",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(JSON) | SHARED(PYTHON),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct builds_command),
	.run = run_builds,
};

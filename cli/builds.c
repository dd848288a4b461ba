// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/step/attempt.h"
#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/config/since.h"
#include "lib/state/results/results-json.h"

enum { SHORT_ID = 10 }; // digits of an id in the table

static const struct option_row options[] = {
	{"platform", 'p', "GLOB", "only for platforms that match GLOB", NO_KEY},
	{"project", '\0', "GLOB", "only of projects whose normalised name matches GLOB", NO_KEY},
	{"failed", '\0', NULL, "only what fails now: the newest attempt of its platform, Python and project", NO_KEY},
	{"since", '\0', "TIME", "only attempts since this time, such as 2026-11-22, or for so long, such as 7d",
		NO_KEY},
	{"log", '\0', "ID", "print the log of this attempt; the first digits of its ID suffice", NO_KEY},
};

struct builds_command {
	struct cli_config settings;
	struct config config;
	struct results_filter filter;
	const char *project, *since, *log;
	struct buf name; // the project, normalised
};

// --- the command line ---

static int take_builds_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct builds_command *x = ctx;
	const struct command_text texts[] = {{"platform", &x->filter.platform}, {"project", &x->project},
		{"python", &x->filter.python}, {"since", &x->since}, {"log", &x->log}};
	const struct command_flag flags[] = {{"failed", &x->filter.only_failed}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value) ||
		command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static int take_builds_line(struct builds_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	if (cli_config_take_line(&x->settings, self, argc, argv, take_builds_option, x, e) < 0)
		return -1;
	if (x->project) {
		name_normalize(str_from(x->project), &x->name);
		x->filter.project = x->name.data;
	}
	if (x->since && since_read(x->since, &x->filter.since, e) < 0)
		return err_prefix(e, "--since: ");
	return cli_config_read(&x->settings, &x->config, e);
}

// --- the list ---

struct build_line {
	const char *begun, *platform, *python, *what, *result, *took, *id, *why;
};

struct build_lines {
	struct jsondoc *attempts; // NULL: a table
	struct build_line *item;
	size_t count, room;
	struct arena text;
};

static void release_lines(struct build_lines *l)
{
	jsondoc_cleanup(&l->attempts);
	free(l->item);
	arena_release(&l->text);
}

static const char *keep_printed(struct build_lines *l, char *text)
{
	const char *kept = arena_copy(&l->text, str_from(text));
	free(text);
	return kept;
}

static const char *took_text(struct build_lines *l, const struct results_attempt *a)
{
	unsigned seconds = (unsigned)a->seconds;
	if (a->result == RESULTS_RUNNING)
		seconds = (unsigned)(clock_wall_seconds() - a->begun);
	if (seconds < 120)
		return keep_printed(l, xasprintf("%us", seconds));
	if (seconds < 7200)
		return keep_printed(l, xasprintf("%um", seconds / 60));
	return keep_printed(l, xasprintf("%uh%02um", seconds / 3600, seconds / 60 % 60));
}

static const char *result_text(struct build_lines *l, const struct results_attempt *a)
{
	const char *name = results_result_name[a->result];
	if (a->result == RESULTS_OK || !*a->step)
		return name;
	return keep_printed(l, xasprintf("%s (%s)", name, a->step));
}

static const char *begun_text(struct build_lines *l, const struct results_attempt *a)
{
	char begun[CLOCK_TEXT];
	clock_write(a->begun, begun);
	begun[10] = ' ';
	return arena_copy(&l->text, (struct str){begun, 16});
}

static int add_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct build_lines *l = ctx;
	if (l->attempts) {
		jsondoc_add(l->attempts, results_json(a));
		return 0;
	}
	GROW(l->item, l->count, l->room);
	l->item[l->count++] = (struct build_line){
		.begun = begun_text(l, a),
		.platform = arena_copy(&l->text, str_from(a->platform)),
		.python = arena_copy(&l->text, str_from(a->python)),
		.what = keep_printed(l, xasprintf("%s %s", a->project, a->version)),
		.result = result_text(l, a),
		.took = took_text(l, a),
		.id = arena_copy(&l->text, str_head(str_from(a->id), SHORT_ID)),
		.why = arena_copy(&l->text, str_from(a->why)),
	};
	return 0;
}

// Pads all columns but the last one.
static void print_build_line(const struct build_line *line, const size_t *width, size_t columns)
{
	const char *const text[] = {
		line->begun, line->platform, line->python, line->what, line->result, line->took, line->id};
	for (size_t i = 0; i < columns; i++)
		printf("%-*s  ", (int)width[i], text[i]);
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2);
	escape_terminal(&why, str_from(line->why));
	printf("%s\n", why.data);
}

static void print_build_table(const struct build_lines *l)
{
	static const struct build_line head = {
		"BEGUN (UTC)", "PLATFORM", "PYTHON", "PROJECT", "RESULT", "TIME", "ID", "WHY"};
	static const size_t field[] = {offsetof(struct build_line, begun), offsetof(struct build_line, platform),
		offsetof(struct build_line, python), offsetof(struct build_line, what),
		offsetof(struct build_line, result), offsetof(struct build_line, took),
		offsetof(struct build_line, id)};
	size_t width[ARRAY_SIZE(field)] = {0};
	for (size_t i = 0; i <= l->count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(field); k++) {
			const struct build_line *line = i ? &l->item[i - 1] : &head;
			size_t len = strlen(*(const char *const *)(const void *)((const char *)line + field[k]));
			width[k] = len > width[k] ? len : width[k];
		}
	if (l->count)
		print_build_line(&head, width, ARRAY_SIZE(field));
	for (size_t i = 0; i < l->count; i++)
		print_build_line(&l->item[i], width, ARRAY_SIZE(field));
}

static void print_builds_json(struct build_lines *l)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_put(doc, "attempts", STEAL_PTR(l->attempts));
	jsondoc_write(doc, 2, &text);
	fputs(text.data, stdout);
}

static int print_builds(struct builds_command *x, struct results *r, struct err *e)
{
	CLEANUP(release_lines)
	struct build_lines lines = {.attempts = x->settings.is_json ? jsondoc_array() : NULL};
	if (r && results_list(r, &x->filter, add_attempt, &lines, e) < 0)
		return -1;
	if (lines.attempts)
		print_builds_json(&lines);
	else if (lines.count)
		print_build_table(&lines);
	else
		log_info("no attempt to build a wheel is recorded%s", r ? " that matches" : "");
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "standard output");
}

// --- one log ---

// On a terminal a log could move the cursor, or do worse. A file gets its bytes.
static void print_log(struct str log)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
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

// The log of a running attempt is a file that grows, in the work folder that its provenance names. An attempt that ends
// meanwhile has its log in the results.
static int read_log(struct results *r, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(mem_free) char *folder = NULL;
	struct err ignored = ERR_INIT;
	if (results_find(r, id, keep_work_folder, &folder, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = folder ? attempt_log_path(folder, id) : NULL;
	if (path && safefile_read(path, out, &ignored) == 0)
		return 0;
	buf_clear(out);
	return results_log(r, id, out, e);
}

static int print_one_log(struct results *r, const char *digits, struct err *e)
{
	char id[RESULTS_ID + 1];
	CLEANUP(buf_release) struct buf log;
	buf_init(&log, LIMIT_RESULT_LOG);
	if (!r)
		return err_set(e, ERR_NOT_FOUND, "no attempt to build a wheel is recorded");
	if (results_find_id(r, digits, id, e) < 0 || read_log(r, id, &log, e) < 0)
		return -1;
	print_log(buf_view(&log));
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "standard output");
}

// --- the command ---

// *out is NULL if nothing was built yet.
static int open_builds(const struct config *c, struct results **out, struct err *e)
{
	CLEANUP(mem_free) char *catalog = c->build_results ? xstrdup("") : cli_config_catalog(c, e);
	if (!catalog)
		return -1;
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *path = results_path(c, catalog);
	*out = NULL;
	if (results_open_read(path, out, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

static int builds_line(struct builds_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = NULL;
	if (take_builds_line(x, self, argc, argv, e) < 0 || open_builds(&x->config, &r, e) < 0)
		return -1;
	return x->log ? print_one_log(r, x->log, e) : print_builds(x, r, e);
}

static void builds_command_release(struct builds_command *x)
{
	config_release(&x->config);
	buf_release(&x->name);
}

static int run_builds(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(builds_command_release) struct builds_command x = {0};
	config_init(&x.config);
	buf_init(&x.name, LIMIT_FILE_NAME);
	return builds_line(&x, self, argc, argv, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_builds = {
	.name = "builds",
	.arguments = "[STORE]",
	.help = "list the attempts to build wheels, and print their logs",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(JSON) | SHARED(PYTHON),
	.run = run_builds,
};

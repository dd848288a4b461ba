// SPDX-License-Identifier: Apache-2.0
// Holds and waivers of files of upstreams (lib/state/upstream/holds.h): what makes, ends and lists them.
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "cli/common/output.h"
#include "lib/advisories/osv-record.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/holds.h"

struct hold_command {
	struct session s;
	const char *upstream, *after, *until, *end, *record;
	bool ends; // of waive
	char *folder;
};

static const struct option_row hold_options[] = {
	{"after", '\0', "TIME", "files that were uploaded after this time or day, or in this last time, such as 3d",
		TEXT(hold_command, after)},
	{"upstream", '\0', "NAME", "only files of this upstream", TEXT(hold_command, upstream)},
	{"reason", 'r', "TEXT", "the reason, which clients are told", TEXT(session, reason)},
	{"end", '\0', "ID", "end this hold", TEXT(hold_command, end)},
};

static const struct option_row waive_options[] = {
	{"until", '\0', "TIME", "the end: a time, a day, or so long from now, such as 3d", TEXT(hold_command, until)},
	{"upstream", '\0', "NAME", "only of this upstream", TEXT(hold_command, upstream)},
	{"record", '\0', "ID", "also in spite of this record of a block list", TEXT(hold_command, record)},
	{"reason", 'r', "TEXT", "the reason", TEXT(session, reason)},
	{"end", '\0', NULL, "end the waivers of this project or version", FLAG(hold_command, ends)},
};

static int open_state(struct hold_command *x, bool is_writer, struct err *e)
{
	struct session *s = &x->s;
	if (session_read(s, &s->config, e) < 0 || session_locate(s, is_writer, e) < 0)
		return -1;
	x->folder = state_file(&s->config, s->catalog_path, STATE_FILE_OFFERS);
	return is_writer ? session_audit(s, e) : 0;
}

static void release_hold(void *self)
{
	free(((struct hold_command *)self)->folder);
}

static int check_upstream(const struct hold_command *x, struct err *e)
{
	const struct config_upstreams *u = &x->s.config.upstreams;
	if (!x->upstream || config_upstreams_named(u, x->upstream))
		return 0;
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(x->upstream));
	for (size_t i = 0; i < u->count; i++)
		name_choice_add(&names, u->item[i].name);
	return name_choice_refuse(&names, ERR_USAGE, "there is no upstream", e);
}

static int check_reason(const struct hold_command *x, struct err *e)
{
	return x->s.reason && *x->s.reason ? 0 : err_set(e, ERR_USAGE, "--reason TEXT is missing: clients and the log are told it");
}

// The change is made first: a line of one that failed says so.
static int log_change(struct hold_command *x, const char *action, const char *project, const char *words, int result,
	struct err *e)
{
	struct err unwritten = ERR_INIT;
	const struct audit_entry entry = {.who = session_account(&x->s),
		.action = action,
		.project = project,
		.result = result < 0 ? "failed" : "done",
		.reason = result < 0 ? e->msg : words};
	if (audit_write(x->s.audit, &entry, &unwritten) == 0)
		return result < 0 ? -1 : 0;
	if (result < 0)
		log_error("%s", unwritten.msg);
	else
		*e = unwritten;
	return -1;
}

// --- hold ---

static int end_hold(struct hold_command *x, struct err *e)
{
	int ended = strncmp(x->end, "hold-", 5) == 0 ? holds_end(x->folder, x->end, e) : 0;
	if (ended == 0)
		return err_set(e, ERR_NOT_FOUND, "there is no hold %s; wheelcache holds lists them", x->end);
	if (log_change(x, "hold end", NULL, x->end, ended, e) < 0)
		return -1;
	buf_printf(&x->s.out, "%s has ended\n", x->end);
	return 0;
}

static int make_hold(struct hold_command *x, struct err *e)
{
	char id[HOLD_ID + 1] = "", when[CLOCK_TEXT];
	struct hold h = {.upstream = x->upstream,
		.reason = x->s.reason,
		.who = session_account(&x->s),
		.made = clock_wall_seconds()};
	if (since_read(x->after, &h.after, e) < 0)
		return err_prefix(e, "--after: ");
	h.after = h.after < 1 ? 1 : h.after; // a record without a time is damaged
	clock_write(h.after, when);
	int made = holds_add(x->folder, &h, id, e);
	const char *words = arena_printf(&x->s.arena, "%s after %s%s%s: %s", id, when, x->upstream ? " upstream " : "",
		x->upstream ? x->upstream : "", h.reason);
	if (log_change(x, "hold", NULL, words, made, e) < 0)
		return -1;
	buf_printf(&x->s.out, "%s: files of %s that were uploaded after %s are not offered, until: wheelcache hold --end %s\n",
		id, x->upstream ? x->upstream : "upstreams", when, id);
	return 0;
}

static int run_hold(void *self, struct err *e)
{
	struct hold_command *x = self;
	if (x->s.words)
		return err_set(e, ERR_USAGE, "%s: hold takes no word; waive is for a project", x->s.word[0]);
	if (!x->after == !x->end)
		return err_set(e, ERR_USAGE, "give --after TIME with --reason TEXT, or --end ID");
	if ((x->after && check_reason(x, e) < 0) || open_state(x, true, e) < 0 || check_upstream(x, e) < 0)
		return -1;
	return x->end ? end_hold(x, e) : make_hold(x, e);
}

// --- waive ---

// "PROJECT" or "PROJECT==VERSION".
static int read_subject(struct hold_command *x, struct waiver *w, struct err *e)
{
	struct str text = str_from(x->s.word[0]), project = text;
	const char *equals = strstr(x->s.word[0], "==");
	if (equals) {
		project = str_trim(str_slice(text, 0, (size_t)(equals - text.ptr)));
		w->version = arena_copy(&x->s.arena, str_trim(str_from(equals + 2)));
	}
	if (!name_is_valid(project))
		return err_set(e, ERR_USAGE, "\"%s\" is no PROJECT or PROJECT==VERSION", text.ptr);
	if (w->version && !version_is_valid(str_from(w->version)))
		return err_set(e, ERR_USAGE, "\"%s\" is no version", w->version);
	w->project = session_project(&x->s, project);
	return 0;
}

static int read_until(const char *text, int64_t *until, struct err *e)
{
	uint64_t seconds;
	int64_t now = clock_wall_seconds();
	if (clock_read_end(text, until))
		return *until >= now ? 0 : err_set(e, ERR_USAGE, "--until: %s is over", text);
	if (!config_type_seconds.set(&seconds, text) || !seconds || seconds > config_type_seconds.most)
		return err_set(e, ERR_USAGE, "--until: \"%s\" is no time (2026-12-24T18:00:00Z), day (2026-12-24) or duration (3d)",
			text);
	*until = now + (int64_t)seconds;
	return 0;
}

static int make_waiver(struct hold_command *x, struct waiver *w, struct err *e)
{
	char id[HOLD_ID + 1] = "", when[CLOCK_TEXT];
	if (read_until(x->until, &w->until, e) < 0)
		return -1;
	w->upstream = x->upstream;
	w->record = x->record;
	w->reason = x->s.reason;
	w->who = session_account(&x->s);
	w->made = clock_wall_seconds();
	clock_write(w->until, when);
	int made = holds_waive(x->folder, w, id, e);
	const char *words = arena_printf(&x->s.arena, "%s %s until %s%s%s%s%s: %s", id, x->s.word[0], when,
		x->upstream ? " upstream " : "", x->upstream ? x->upstream : "", x->record ? " record " : "",
		x->record ? x->record : "", w->reason);
	if (log_change(x, "waive", w->project, words, made, e) < 0)
		return -1;
	buf_printf(&x->s.out, "%s: %s is offered in spite of its age%s%s and of holds until %s\n", id, x->s.word[0],
		x->record ? ", of " : "", x->record ? x->record : "", when);
	return 0;
}

static bool is_same_version(const char *a, const char *b)
{
	struct err ignored = ERR_INIT;
	struct version x, y;
	if (!a || !b || version_parse(str_from(a), &x, &ignored) < 0)
		return !a && !b;
	bool is_same = version_parse(str_from(b), &y, &ignored) == 0;
	if (is_same) {
		is_same = version_cmp(&x, &y) == 0;
		version_release(&y);
	}
	version_release(&x);
	return is_same;
}

static int end_waiver(struct hold_command *x, const struct waiver *w, struct err *e)
{
	int ended = holds_end(x->folder, w->id, e);
	if (log_change(x, "waive end", w->project, w->id, ended, e) < 0)
		return -1;
	buf_printf(&x->s.out, "%s has ended\n", w->id);
	return 0;
}

static int end_waivers(struct hold_command *x, const struct waiver *of, struct err *e)
{
	size_t count, ended = 0;
	CLEANUP(holds_release) struct holds h = {0};
	if (holds_read(x->folder, &h, e) < 0)
		return -1;
	const struct waiver *w = holds_waivers_of(&h, of->project, &count);
	for (size_t i = 0; i < count; i++) {
		bool is_upstream = !x->upstream || (w[i].upstream && strcmp(w[i].upstream, x->upstream) == 0);
		if (!is_upstream || !is_same_version(of->version, w[i].version))
			continue;
		if (end_waiver(x, &w[i], e) < 0)
			return -1;
		ended++;
	}
	return ended ? 0 : err_set(e, ERR_NOT_FOUND, "there is no waiver of %s; wheelcache holds lists them", x->s.word[0]);
}

static int run_waive(void *self, struct err *e)
{
	struct hold_command *x = self;
	struct waiver w = {0};
	if (x->s.words != 1)
		return err_set(e, ERR_USAGE, "give one PROJECT or PROJECT==VERSION");
	if (x->ends && x->until)
		return err_set(e, ERR_USAGE, "--end ends a waiver, and --until is for a new one");
	if (!x->ends && !x->until)
		return err_set(e, ERR_USAGE, "--until TIME is missing: each waiver has an end");
	if (x->record && (x->ends || !osv_id_is_valid(str_from(x->record))))
		return err_set(e, ERR_USAGE, x->ends ? "--record is for a new waiver" : "\"%s\" is no id of a record",
			x->record);
	if ((!x->ends && check_reason(x, e) < 0) || read_subject(x, &w, e) < 0 || open_state(x, true, e) < 0 ||
		check_upstream(x, e) < 0)
		return -1;
	return x->ends ? end_waivers(x, &w, e) : make_waiver(x, &w, e);
}

// --- holds ---

static const char *time_text(struct session *s, int64_t time)
{
	char when[CLOCK_TEXT];
	clock_write(time, when);
	return arena_copy(&s->arena, str_from(when));
}

static void put_holds(struct session *s, const struct holds *h)
{
	static const char *const head[] = {"ID", "WHAT", "UPSTREAM", "BY", "REASON"};
	struct arena *arena = &s->arena;
	struct output_table table = {.columns = ARRAY_SIZE(head)};
	output_table_add(arena, &table, head);
	for (size_t i = 0; i < h->holds; i++) {
		const struct hold *o = &h->hold[i];
		const char *const cell[] = {o->id, arena_printf(arena, "uploaded after %s", time_text(s, o->after)),
			o->upstream ? o->upstream : "all", o->who, o->reason};
		output_table_add(arena, &table, cell);
	}
	for (size_t i = 0; i < h->waivers; i++) {
		const struct waiver *w = &h->waiver[i];
		const char *what = arena_printf(arena, "%s%s%s%s until %s", w->project, w->specifier ? w->specifier : "",
			w->record ? " with " : "", w->record ? w->record : "", time_text(s, w->until));
		const char *const cell[] = {w->id, what, w->upstream ? w->upstream : "all", w->who, w->reason};
		output_table_add(arena, &table, cell);
	}
	if (h->holds + h->waivers)
		output_table_print(&table, &s->out);
	else
		buf_puts(&s->out, "no holds, no waivers\n");
}

static int run_holds(void *self, struct err *e)
{
	struct hold_command *x = self;
	CLEANUP(holds_release) struct holds h = {0};
	if (x->s.words)
		return err_set(e, ERR_USAGE, "%s: holds takes no word", x->s.word[0]);
	if (open_state(x, false, e) < 0 || holds_read(x->folder, &h, e) < 0)
		return -1;
	if (x->s.is_json)
		session_json(&x->s, holds_json(&h, true));
	else
		put_holds(&x->s, &h);
	return 0;
}

// --- rows ---

const struct command command_hold = {
	.name = "hold",
	.help = "offer no files of upstreams that were uploaded after a time",
	OPTIONS(hold_options),
	.shared = SHARED_BASE | SHARED(STORE),
	.size = sizeof(struct hold_command),
	.run = run_hold,
	.release = release_hold,
};

const struct command command_waive = {
	.name = "waive",
	.arguments = "PROJECT[==VERSION]",
	.help = "offer a project of upstreams in spite of its age and of holds, for a time",
	OPTIONS(waive_options),
	.shared = SHARED_BASE | SHARED(STORE),
	.size = sizeof(struct hold_command),
	.run = run_waive,
	.release = release_hold,
};

const struct command command_holds = {
	.name = "holds",
	.help = "list holds and waivers",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.size = sizeof(struct hold_command),
	.run = run_holds,
	.release = release_hold,
};

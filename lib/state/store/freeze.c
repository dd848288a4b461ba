// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/freeze.h"

#include <stdatomic.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"

enum {
	ENTER_MS = 1000,     // wait of a write; a freeze holds the lock only for a moment
	STRANGER_MS = 60000, // a longer holder is not a freeze: no write waits again for this time
};

static const char mark[] = FREEZE_MARK;
static const char no_reason[] = "no reason was given";

static struct place_folder *open_top(const struct platform *p, struct err *e)
{
	struct place_folder *top = place_open_folder(p->written, "", e);
	if (!top)
		err_prefix(e, "platform %s: ", p->name);
	return top;
}

// Appends one line of plain text: control characters become blanks.
static void add_line(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putc(out, (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 127 ? ' ' : text.ptr[i]);
}

static int put_mark(const struct platform *p, struct place_folder *top, const char *who, const char *reason, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_WORDS);
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	add_line(&text, str_from(reason));
	buf_puts(&text, "\nby ");
	add_line(&text, str_from(who));
	buf_printf(&text, " at %s\n", when);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is longer than %d bytes", LIMIT_WORDS);
	CLEANUP(place_write_free) struct place_write *w = place_write_begin(top, mark, e);
	if (!w || place_write_add(w, buf_view(&text), e) < 0 || place_replace(w, NULL, e) < 0 || place_sync(top, e) < 0)
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

static int take_lock(const struct platform *p, bool is_shared, unsigned wait_ms, struct freeze_hold *hold, struct err *e)
{
	int taken = place_lock(p->written, is_shared, wait_ms, &hold->lock, e);
	return taken < 0 ? err_prefix(e, "platform %s: ", p->name) : taken;
}

void freeze_leave(struct freeze_hold *hold)
{
	place_unlock(&hold->lock);
}

int freeze_settle(const struct platform *p, unsigned wait_ms, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	int alone = take_lock(p, false, wait_ms, &hold, e);
	if (alone == 0)
		log_warn(
			"platform %s: its file system has no locks: a write that is under way may end after the freeze",
			p->name);
	if (alone < 0 && e->kind == ERR_BUSY)
		return err_prefix(e,
			"it is frozen, but a write has not ended in %u s; freeze it again to wait longer: ",
			wait_ms / 1000);
	return alone < 0 ? -1 : 0;
}

int freeze_set(const struct platform *p, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *top = open_top(p, e);
	return !top || put_mark(p, top, who, reason, e) < 0 ? -1 : freeze_settle(p, wait_ms, e);
}

int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *top = open_top(p, e);
	if (!top)
		return -1;
	int removed = place_remove(top, mark, NULL, e);
	*was_frozen = removed > 0;
	if (removed < 0 || (removed && place_sync(top, e) < 0))
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

int freeze_is(const struct platform *p, struct buf *why, struct err *e)
{
	struct place_info info;
	CLEANUP(place_folder_close) struct place_folder *top = open_top(p, e);
	int found = top ? place_stat(top, mark, &info, e) : -1;
	if (top && found < 0)
		return err_prefix(e, "platform %s: %s: ", p->name, mark);
	if (found > 0) {
		// Leaves out a character that is cut off, and what is not text.
		struct err ignored = ERR_INIT;
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_WORDS);
		CLEANUP(place_file_close) struct place_file *file = place_open(p->written, mark, &ignored);
		if (file && place_file_read(file, LIMIT_WORDS, &text, &ignored) < 0)
			buf_clear(&text);
		struct str rest = buf_view(&text);
		struct str reason = str_trim(str_cut(&rest, '\n'));
		struct str by = rest.ptr ? str_trim(str_cut(&rest, '\n')) : STR("");
		add_line(why, reason.len && str_is_utf8(reason) ? reason : str_from(no_reason));
		if (by.len && str_is_utf8(by)) {
			buf_puts(why, " (");
			add_line(why, by);
			buf_putc(why, ')');
		}
	}
	return found;
}

bool freeze_is_retirement(struct str why)
{
	struct str word = STR(FREEZE_RETIRED);
	if (!str_starts(why, word))
		return false;
	return why.len == word.len || why.ptr[word.len] == ':' || why.ptr[word.len] == ' ';
}

static int check_frozen(const struct platform *p, bool by_retirement, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	int frozen = freeze_is(p, &why, e);
	if (frozen <= 0 || (by_retirement && freeze_is_retirement(buf_view(&why))))
		return frozen < 0 ? -1 : 0;
	return err_set(e, ERR_BUSY, "platform %s is frozen: %s; try again later, or end it: wheelcache thaw %s", p->name,
		why.data, p->name);
}

int freeze_check(const struct platform *p, struct err *e)
{
	return check_frozen(p, false, e);
}

// The time (clock_ms) until which no write waits: an account that can only read the folder may hold its lock forever.
static _Atomic int64_t stranger_until;

static void note_foreign_lock(const char *held)
{
	atomic_store(&stranger_until, clock_ms() + STRANGER_MS);
	log_warn("%s, and is no freeze: what is written now a freeze does not wait for", held);
}

// Checks for the mark twice: a frozen folder may be read-only, so that it has no lock file. A freeze creates the mark
// before it takes the lock, so an exclusive holder without a mark is not a freeze, and writes do not wait long for it.
int freeze_enter(const struct platform *p, bool by_retirement, struct freeze_hold *hold, struct err *e)
{
	struct err held = ERR_INIT;
	*hold = (struct freeze_hold){0};
	if (check_frozen(p, by_retirement, e) < 0)
		return -1;
	unsigned wait_ms = clock_ms() < atomic_load(&stranger_until) ? 0 : ENTER_MS;
	int taken = take_lock(p, true, wait_ms, hold, &held);
	if (taken < 0 && held.kind != ERR_BUSY) {
		*e = held;
		return -1;
	}
	if (check_frozen(p, by_retirement, e) < 0)
		return -1;
	if (taken < 0 && wait_ms)
		note_foreign_lock(held.msg);
	return 0;
}

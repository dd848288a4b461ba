// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/right-clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/place/record.h"

enum {
	STEP_S = 3600,         // a greater one is doubted
	ABSENCE_S = 400 * 86400,
	SAVE_S = 10,
	NOTICE_S = 1, // a step that pages are made again for
};

static const char clock_name[] = "clock", doubt_name[] = "clock-doubt";

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct right_clock *opened; // all of this process; with open_lock held

struct right_clock {
	struct right_clock *next;
	unsigned owners; // with open_lock held
	char *folder;
	_Atomic int64_t highest; // at which it was right
	_Atomic int64_t ahead;   // the wall clock before the machine's
	atomic_bool is_doubted;
	pthread_mutex_t lock; // of why
	char *why;            // of the doubt
	pthread_mutex_t follow_lock; // of the rest, also while the disk is waited for
	bool is_written;             // the doubt is in the state
	int64_t saved, followed_ahead;
	bool followed_doubt;
	uint64_t changes;
};

// --- the state ---

static int open_clock_folder(const char *path, bool make, struct place_folder **folder, struct err *e)
{
	struct err missing = ERR_INIT;
	*folder = record_secret_folder(path, "", make, &missing);
	if (*folder || (!make && missing.kind == ERR_NOT_FOUND))
		return 0;
	*e = missing;
	return -1;
}

// Appends the text of a record without its line end; nothing where there is none.
static int read_note(const char *path, const char *name, struct buf *out, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (open_clock_folder(path, false, &folder, e) < 0)
		return -1;
	if (folder && record_read(folder, name, LIMIT_WORDS, out, &missing) < 0)
		return err_unless_missing(e, &missing) < 0 ? err_prefix(e, "%s/%s: ", path, name) : 0;
	if (out->len && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
	return 0;
}

static int write_note(const char *path, const char *name, const char *text, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	CLEANUP(mem_free) char *line = xasprintf("%s\n", text);
	if (open_clock_folder(path, true, &folder, e) < 0 || record_replace(folder, name, str_from(line), e) < 0)
		return err_prefix(e, "%s/%s: ", path, name);
	return 0;
}

static int read_clock(const char *path, int64_t *highest, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_WORDS + 1);
	*highest = 0;
	if (read_note(path, clock_name, &text, e) < 0)
		return -1;
	return !text.len || clock_read(text.data, highest) ? 0 : err_set(e, ERR_INVALID, "%s/%s is no time", path, clock_name);
}

static int write_clock(const char *path, int64_t highest, struct err *e)
{
	char text[CLOCK_TEXT];
	clock_write(highest, text);
	return write_note(path, clock_name, text, e);
}

// --- doubt ---

// Takes the text over. False: it was doubted before.
static bool set_doubt(struct right_clock *c, char *why)
{
	pthread_mutex_lock(&c->lock);
	bool is_first = !atomic_load(&c->is_doubted);
	free(is_first ? c->why : why);
	if (is_first)
		c->why = why;
	atomic_store(&c->is_doubted, true);
	pthread_mutex_unlock(&c->lock);
	return is_first;
}

static void doubt_step(struct right_clock *c, int64_t wall, int64_t step)
{
	char when[CLOCK_TEXT];
	clock_write(wall, when);
	const char *way = step < 0 ? "back" : "ahead";
	step = step < 0 ? -step : step;
	if (set_doubt(c, xasprintf("the clock was set %s by %" PRId64 " s, to %s", way, step, when)))
		log_error("the clock was set %s by %" PRId64 " s, to %s: nothing new of upstreams is offered until "
			  "\"wheelcache doctor --clock-is-right\"", way, step, when);
}

static void doubt_absence(struct right_clock *c, int64_t highest, int64_t wall)
{
	char then[CLOCK_TEXT], now[CLOCK_TEXT];
	if (!highest || wall - highest <= ABSENCE_S)
		return;
	clock_write(highest, then);
	clock_write(wall, now);
	set_doubt(c, xasprintf("the clock says %s, and a server ran last at %s", now, then));
}

// With open_lock held.
static int open_first(const char *folder, struct right_clock **out, struct err *e)
{
	int64_t highest, wall = clock_wall_seconds();
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_WORDS + 1);
	if (read_clock(folder, &highest, e) < 0 || read_note(folder, doubt_name, &why, e) < 0)
		return -1;
	struct right_clock *c = xcalloc(1, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->follow_lock, NULL);
	c->folder = xstrdup(folder);
	c->saved = highest;
	c->is_written = why.len > 0;
	if (why.len)
		set_doubt(c, xstrdup(why.data));
	else
		doubt_absence(c, highest, wall);
	atomic_init(&c->highest, atomic_load(&c->is_doubted) && highest ? highest : wall > highest ? wall : highest);
	atomic_init(&c->ahead, wall - clock_boot_seconds());
	c->followed_ahead = c->ahead;
	c->followed_doubt = c->is_doubted;
	c->next = opened;
	*out = opened = c;
	return 0;
}

int right_clock_open(const char *folder, struct right_clock **out, struct err *e)
{
	pthread_mutex_lock(&open_lock);
	struct right_clock *c = opened;
	while (c && strcmp(c->folder, folder) != 0)
		c = c->next;
	int result = c ? 0 : open_first(folder, &c, e);
	if (result == 0) {
		c->owners++;
		*out = c;
	}
	pthread_mutex_unlock(&open_lock);
	return result;
}

static bool is_last_owner(struct right_clock *c)
{
	pthread_mutex_lock(&open_lock);
	bool is_last = !--c->owners;
	struct right_clock **at = &opened;
	while (is_last && *at != c)
		at = &(*at)->next;
	if (is_last)
		*at = c->next;
	pthread_mutex_unlock(&open_lock);
	return is_last;
}

void right_clock_close(struct right_clock *c)
{
	if (!c || !is_last_owner(c))
		return;
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->follow_lock);
	free(c->folder);
	free(c->why);
	free(c);
}

int64_t right_clock_now(struct right_clock *c)
{
	int64_t wall = clock_wall_seconds(), ahead = wall - clock_boot_seconds();
	int64_t step = ahead - atomic_load(&c->ahead), highest = atomic_load(&c->highest);
	if (!atomic_load(&c->is_doubted) && (step > STEP_S || step < -STEP_S))
		doubt_step(c, wall, step);
	if (atomic_load(&c->is_doubted))
		return atomic_load(&c->highest);
	atomic_store(&c->ahead, ahead);
	while (wall > highest && !atomic_compare_exchange_weak(&c->highest, &highest, wall))
		;
	return wall > highest ? wall : highest;
}

bool right_clock_is_doubted(struct right_clock *c, struct buf *why)
{
	right_clock_now(c);
	pthread_mutex_lock(&c->lock);
	bool is_doubted = atomic_load(&c->is_doubted);
	if (is_doubted && why)
		buf_puts(why, c->why);
	pthread_mutex_unlock(&c->lock);
	return is_doubted;
}

// --- a server ---

// With follow_lock held. Another server, or the operator, may have changed it.
static int follow_doubt(struct right_clock *c, struct err *e)
{
	int64_t highest;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_WORDS + 1);
	bool is_doubted = atomic_load(&c->is_doubted);
	if (is_doubted && !c->is_written) {
		right_clock_is_doubted(c, &why);
		c->is_written = true;
		return write_note(c->folder, doubt_name, why.data, e);
	}
	if (read_note(c->folder, doubt_name, &why, e) < 0)
		return -1;
	if (why.len && !is_doubted) {
		c->is_written = true;
		set_doubt(c, xstrdup(why.data));
		log_error("%s: nothing new of upstreams is offered", why.data);
	} else if (!why.len && is_doubted) {
		if (read_clock(c->folder, &highest, e) < 0)
			return -1;
		log_info("the clock is right again");
		c->is_written = false;
		c->saved = highest;
		atomic_store(&c->highest, highest);
		atomic_store(&c->ahead, clock_wall_seconds() - clock_boot_seconds());
		atomic_store(&c->is_doubted, false);
	}
	return 0;
}

// With follow_lock held. The highest time of all servers stays.
static int save_highest(struct right_clock *c, int64_t pause, struct err *e)
{
	int64_t highest = atomic_load(&c->highest), other;
	if (atomic_load(&c->is_doubted) || highest < c->saved + pause)
		return 0;
	if (read_clock(c->folder, &other, e) < 0)
		return -1;
	c->saved = highest;
	return other < highest ? write_clock(c->folder, highest, e) : 0;
}

uint64_t right_clock_follow(struct right_clock *c)
{
	struct err e = ERR_INIT;
	right_clock_now(c);
	pthread_mutex_lock(&c->follow_lock);
	if (follow_doubt(c, &e) < 0 || save_highest(c, SAVE_S, &e) < 0) {
		log_error("the time of offering: %s", e.msg);
		c->saved = atomic_load(&c->highest); // said again after a while
	}
	int64_t step = atomic_load(&c->ahead) - c->followed_ahead;
	if (step > NOTICE_S || step < -NOTICE_S || atomic_load(&c->is_doubted) != c->followed_doubt) {
		c->followed_ahead = c->ahead;
		c->changes++;
	}
	c->followed_doubt = c->is_doubted;
	uint64_t changes = c->changes;
	pthread_mutex_unlock(&c->follow_lock);
	return changes;
}

void right_clock_save(struct right_clock *c)
{
	struct err e = ERR_INIT;
	right_clock_now(c);
	pthread_mutex_lock(&c->follow_lock);
	if (save_highest(c, 0, &e) < 0)
		log_error("the time of offering: %s", e.msg);
	pthread_mutex_unlock(&c->follow_lock);
}

int right_clock_settle(const char *path, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (write_clock(path, clock_wall_seconds(), e) < 0 || open_clock_folder(path, true, &folder, e) < 0)
		return -1;
	int removed = place_remove(folder, doubt_name, NULL, e);
	return removed > 0 && place_sync(folder, e) < 0 ? -1 : removed;
}

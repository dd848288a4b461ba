// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/digest.h"
#include "lib/format/escape.h"
#include "lib/net/address.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/os/timer-thread.h"
#include "lib/state/config/state-files.h"

enum { REOPENED = 8 }; // times that a line looks for the file that has the name now

struct audit {
	struct audit_place place;
	int fd;
};

void audit_place_init(struct audit_place *p, const struct config *c, const char *catalog_path)
{
	*p = (struct audit_place){
		.path = state_file(c, catalog_path, STATE_FILE_AUDIT), .max_size = c->audit_max_size, .keep = c->audit_keep};
}

void audit_place_release(struct audit_place *p)
{
	free(p->path);
}

// Whether the last line is incomplete, for example after a full disk.
static bool is_torn(int fd)
{
	struct stat st;
	char last = '\n';
	if (fstat(fd, &st) < 0 || st.st_size == 0)
		return false;
	return pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

static int open_audit_file(const struct audit_place *place, struct err *e)
{
	return safefile_open(place->path, O_RDWR | O_APPEND | O_CREAT, e);
}

int audit_open(const struct audit_place *place, struct audit **out, struct err *e)
{
	int fd = open_audit_file(place, e);
	if (fd < 0)
		return err_prefix(e, "audit log ");
	struct audit *a = xcalloc(1, sizeof(*a));
	*a = (struct audit){.place = *place, .fd = fd};
	a->place.path = xstrdup(place->path);
	*out = a;
	return 0;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	mem_close(&a->fd);
	audit_place_release(&a->place);
	free(a);
}

void audit_cleanup(struct audit **a)
{
	audit_close(*a);
	*a = NULL;
}

static void add_fields(const struct audit_entry *entry, struct buf *out)
{
	const struct {
		const char *name, *value;
	} field[] = {
		{"who", entry->who},
		{"peer", entry->peer},
		{"action", entry->action},
		{"view", entry->view},
		{"platform", entry->platform},
		{"project", entry->project},
		{"file", entry->file},
		{"sha256", entry->sha256},
		{"result", entry->result},
		{"reason", entry->reason},
	};
	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		if (!field[i].value)
			continue;
		struct str value = str_from(field[i].value);
		if (value.len > LIMIT_WORDS)
			value.len = LIMIT_WORDS;
		buf_printf(out, ",\"%s\":", field[i].name);
		escape_json(out, value);
	}
}

void audit_entry_json(const struct audit_entry *entry, const char *time, struct buf *out)
{
	buf_puts(out, "{\"time\":");
	escape_json(out, str_from(time));
	add_fields(entry, out);
	buf_puts(out, "}\n");
}

static void add_entry_now(const struct audit_entry *entry, struct buf *out)
{
	char when[CLOCK_TEXT];
	int64_t now = clock_wall_ns();
	clock_write(now / 1000000000, when);
	CLEANUP(mem_free) char *time = xasprintf("%.19s.%06dZ", when, (int)(now % 1000000000 / 1000));
	audit_entry_json(entry, time, out);
}

// Whether the open file is the one that has the log's name.
static bool log_is_in_place(const char *path, int fd);
// The caller has locked the open file, which is in place. max_size: bytes; keep: seconds, 0: always. True: it has
// another name now, and nothing has the log's. Of a symbolic link, the target is moved. What cannot be moved, as what
// is no regular file, goes on growing.
static bool rotate_log(const char *path, int fd, uint64_t max_size, uint64_t keep);
// Whether a line may be written. who, peer: NULL if unknown.
static bool take_refusal(struct audit_refusals *r, const char *who, const char *peer, const char *action);

// Locks the file that has the log's name now: another process may have moved ours away, and a full one is moved here.
// Where there are no locks nothing is moved, and the worst result is an empty line.
static void lock_newest(struct audit *a)
{
	struct err ignored = ERR_INIT;
	const struct audit_place *p = &a->place;
	for (int i = 0; i < REOPENED; i++) {
		if (flock(a->fd, LOCK_EX) < 0 ||
			(log_is_in_place(p->path, a->fd) && !rotate_log(p->path, a->fd, p->max_size, p->keep)))
			return;
		int fd = open_audit_file(p, &ignored);
		if (fd < 0) // what cannot be replaced takes the line
			return;
		mem_close(&a->fd); // and unlocks it
		a->fd = fd;
	}
	flock(a->fd, LOCK_EX);
}

// Begins with a line end if the line before has none. The lock keeps a process from reading half of another's line.
static ssize_t append_line(struct audit *a, struct str line)
{
	ssize_t n;
	lock_newest(a);
	bool torn = is_torn(a->fd);
	do
		n = write(a->fd, line.ptr + !torn, line.len - !torn);
	while (n < 0 && errno == EINTR);
	flock(a->fd, LOCK_UN);
	return n < 0 ? n : n + !torn;
}

// Whether the line says that a client changed nothing: such lines cost a client nothing.
static bool is_without_change(const struct audit_entry *entry)
{
	static const char *const results[] = {"refused", "failed", "same", "equal"};
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (entry->result && strcmp(entry->result, results[i]) == 0)
			return true;
	return false;
}

int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e)
{
	if (a->place.refusals && is_without_change(entry) &&
		!take_refusal(a->place.refusals, entry->who, entry->peer, entry->action))
		return 0;
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, SIZE_MAX / 2); // each field is bounded
	buf_putc(&line, '\n');
	add_entry_now(entry, &line);
	ssize_t n = append_line(a, buf_view(&line));
	if (n < 0)
		return err_errno(e, ERR_IO, "audit log %s", a->place.path);
	if ((size_t)n < line.len)
		return err_set(e, ERR_FULL, "audit log %s: only a part of the line could be written", a->place.path);
	return 0;
}

char *audit_account(void)
{
	char room[4096];
	struct passwd entry, *found = NULL;
	uid_t uid = getuid();
	if (getpwuid_r(uid, &entry, room, sizeof(room), &found) == 0 && found)
		return xasprintf("user %s", found->pw_name);
	return xasprintf("user %ju", (uintmax_t)uid);
}

// --- its files ---

enum {
	DAY = 86400,
	KEPT_PARTS = 10,     // a file has at most this part of the time that is kept
	MOVED_MOST = 100000, // number of moved files
	NAME_ROOM = 288,
};

// A file of the log in its open folder. Number 0 is the log itself.
static void write_moved_name(const char *name, unsigned number, char out[NAME_ROOM])
{
	if (number)
		snprintf(out, NAME_ROOM, "%s.%u", name, number);
	else
		snprintf(out, NAME_ROOM, "%s", name);
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool log_is_in_place(const char *path, int fd)
{
	struct stat ours, named;
	return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && is_same_inode(&ours, &named);
}

// Each line begins with its time.
static bool begins_long_ago(int fd, uint64_t keep)
{
	static const char head[] = "{\"time\":\"";
	char text[sizeof(head) + CLOCK_TEXT] = "";
	int64_t first, part = (int64_t)keep / KEPT_PARTS;
	enum { WHOLE_SECONDS = CLOCK_TEXT - 2 };
	if (!keep || pread(fd, text, sizeof(text) - 1, 0) != (ssize_t)sizeof(text) - 1 ||
		memcmp(text, head, sizeof(head) - 1) != 0)
		return false;
	char *when = text + sizeof(head) - 1;
	when[WHOLE_SECONDS] = 'Z'; // instead of the fraction
	when[WHOLE_SECONDS + 1] = '\0';
	return clock_read(when, &first) && clock_wall_seconds() - first > (part > DAY ? part : DAY);
}

// Number of moved files without a gap. Those whose last line is too old are deleted, from the oldest on.
static unsigned count_moved(int folder, const char *name, uint64_t keep)
{
	char moved[NAME_ROOM];
	struct stat st;
	unsigned count = 0;
	for (; count < MOVED_MOST; count++) {
		write_moved_name(name, count + 1, moved);
		if (fstatat(folder, moved, &st, AT_SYMLINK_NOFOLLOW) < 0)
			break;
	}
	for (; keep && count; count--) {
		write_moved_name(name, count, moved);
		if (fstatat(folder, moved, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
			clock_wall_seconds() - (int64_t)st.st_mtime <= (int64_t)keep ||
			unlinkat(folder, moved, 0) < 0)
			break;
	}
	return count;
}

// From the oldest on, so that no name is taken twice.
static bool move_files(int folder, const char *name, unsigned moved)
{
	char from[NAME_ROOM], to[NAME_ROOM];
	if (moved >= MOVED_MOST)
		return false;
	for (unsigned i = moved + 1; i-- > 0;) {
		write_moved_name(name, i, from);
		write_moved_name(name, i + 1, to);
		if (renameat(folder, from, folder, to) < 0)
			return false;
	}
	return true;
}

static bool rotate_log(const char *path, int fd, uint64_t max_size, uint64_t keep)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *name = NULL;
	struct stat st, named;
	if (fstat(fd, &st) < 0 || !st.st_size ||
		((uint64_t)st.st_size < max_size && !begins_long_ago(fd, keep)))
		return false;
	CLEANUP(mem_close) int folder = safefile_parent(path, false, &name, &ignored);
	return folder >= 0 && strlen(name) < NAME_ROOM - 16 &&
	       fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(named.st_mode) &&
	       is_same_inode(&st, &named) && move_files(folder, name, count_moved(folder, name, keep));
}

int audit_open_moved(const char *path, unsigned number, struct err *e)
{
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(path, false, &name, e);
	char moved[NAME_ROOM];
	if (folder < 0)
		return -1;
	write_moved_name(name, number, moved);
	return safefile_open_at(folder, moved, O_RDONLY, 0, NULL, e);
}

// --- what nothing changed ---

enum { NAME = 160, ACTION = 32 };

// The lines of one token, or address, in its window. The last of each table is that of all for which no other is free.
struct refuser {
	char key[NAME], peer[NAME], action[ACTION]; // key "": free
	uint64_t lines;
	int64_t end_ms; // of the window
};

struct audit_refusals {
	int64_t window_ms;
	audit_unwritten_fn *report;
	void *ctx;
	struct timer_thread *timer;
	pthread_mutex_t lock;
	struct refuser token[LIMIT_AUDIT_REFUSERS + 1], address[LIMIT_AUDIT_REFUSERS + 1];
};

static const char others[] = "\n"; // the key of the shared ones: no name has a line end

// Takes the next refuser whose window is over out of the table. Under the lock.
static bool cut_ended(struct refuser *all, int64_t now, struct refuser *out)
{
	for (size_t i = 0; i <= LIMIT_AUDIT_REFUSERS; i++)
		if (*all[i].key && all[i].end_ms <= now) {
			*out = all[i];
			all[i] = (struct refuser){0};
			return true;
		}
	return false;
}

static void report_ended(struct audit_refusals *r, int64_t now)
{
	struct refuser *const table[] = {r->token, r->address};
	struct refuser one;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (;;) {
			pthread_mutex_lock(&r->lock);
			bool is_found = cut_ended(table[i], now, &one);
			pthread_mutex_unlock(&r->lock);
			if (!is_found)
				break;
			bool is_shared = strcmp(one.key, others) == 0;
			const struct audit_unwritten what = {.who = !is_shared && table[i] == r->token ? one.key : NULL,
				.peer = is_shared || !*one.peer ? NULL : one.peer,
				.action = one.action,
				.lines = one.lines - LIMIT_AUDIT_REFUSED};
			if (one.lines > LIMIT_AUDIT_REFUSED)
				r->report(r->ctx, &what);
		}
}

static int64_t report_windows(void *ctx)
{
	struct audit_refusals *r = ctx;
	report_ended(r, clock_ms());
	return r->window_ms / 6;
}

struct audit_refusals *audit_refusals_new(int64_t window_ms, audit_unwritten_fn *report, void *ctx)
{
	struct audit_refusals *r = xcalloc(1, sizeof(*r));
	r->window_ms = window_ms;
	r->report = report;
	r->ctx = ctx;
	pthread_mutex_init(&r->lock, NULL);
	r->timer = timer_thread_new(report_windows, r);
	timer_thread_start(r->timer, window_ms);
	return r;
}

void audit_refusals_free(struct audit_refusals *r)
{
	if (!r)
		return;
	timer_thread_free(r->timer);
	report_ended(r, INT64_MAX);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

// The refuser with this key, else a free one, else the shared one. Under the lock.
static struct refuser *find_refuser(struct refuser *all, const char *key)
{
	struct refuser *chosen = &all[LIMIT_AUDIT_REFUSERS];
	for (size_t i = LIMIT_AUDIT_REFUSERS; i-- > 0;) {
		if (strcmp(all[i].key, key) == 0)
			return &all[i];
		if (!*all[i].key)
			chosen = &all[i];
	}
	if (!*chosen->key)
		snprintf(chosen->key, NAME, "%s", chosen == &all[LIMIT_AUDIT_REFUSERS] ? others : key);
	return chosen;
}

static bool take_refusal(struct audit_refusals *r, const char *who, const char *peer, const char *action)
{
	char key[NAME] = "";
	uint8_t client[ADDRESS_SIZE];
	address_client(peer ? peer : "", client);
	if (who)
		snprintf(key, sizeof(key), "%s", who);
	else
		hex_encode(client, sizeof(client), key);
	pthread_mutex_lock(&r->lock);
	struct refuser *one = find_refuser(who ? r->token : r->address, key);
	if (!one->lines++)
		one->end_ms = clock_ms() + r->window_ms;
	snprintf(one->peer, NAME, "%s", peer ? peer : "");
	snprintf(one->action, ACTION, "%s", action ? action : "");
	bool is_written = one->lines <= LIMIT_AUDIT_REFUSED;
	pthread_mutex_unlock(&r->lock);
	return is_written;
}

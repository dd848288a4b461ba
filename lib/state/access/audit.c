// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/access/audit-refusals.h"
#include "lib/state/access/audit-rotate.h"

enum { REOPENED = 8 }; // times that a line looks for the file that has the name now

struct audit {
	struct audit_place place;
	int fd;
};

char *audit_path(const struct config *c, const char *catalog_path)
{
	return c->audit ? xstrdup(c->audit) : xasprintf("%s.audit", catalog_path);
}

void audit_place_init(struct audit_place *p, const struct config *c, const char *catalog_path)
{
	*p = (struct audit_place){
		.path = audit_path(c, catalog_path), .max_size = c->audit_max_size, .keep = c->audit_keep};
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

// Locks the file that has the log's name now: another process may have moved ours away, and a full one is moved here.
// Where there are no locks nothing is moved, and the worst result is an empty line.
static void lock_newest(struct audit *a)
{
	struct err ignored = ERR_INIT;
	const struct audit_place *p = &a->place;
	for (int i = 0; i < REOPENED; i++) {
		if (flock(a->fd, LOCK_EX) < 0 ||
			(audit_is_in_place(p->path, a->fd) && !audit_rotate(p->path, a->fd, p->max_size, p->keep)))
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
		!audit_refusals_take(a->place.refusals, entry->who, entry->peer, entry->action))
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

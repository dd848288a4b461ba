// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"

struct audit {
	char *path;
	int fd;
};

char *audit_path(const struct config *c, const char *catalog_path)
{
	return c->audit ? xstrdup(c->audit) : xasprintf("%s.audit", catalog_path);
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

int audit_open(const char *path, struct audit **out, struct err *e)
{
	int fd = safefile_open(path, O_RDWR | O_APPEND | O_CREAT, e);
	if (fd < 0)
		return err_prefix(e, "audit log ");
	struct audit *a = xcalloc(1, sizeof(*a));
	*a = (struct audit){.path = xstrdup(path), .fd = fd};
	*out = a;
	return 0;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	mem_close(&a->fd);
	free(a->path);
	free(a);
}

void audit_cleanup(struct audit **a)
{
	audit_close(*a);
	*a = NULL;
}

static void add_time(struct buf *out)
{
	char when[CLOCK_TEXT];
	int64_t now = clock_wall_ns();
	clock_write(now / 1000000000, when);
	buf_printf(out, "{\"time\":\"%.19s.%06dZ\"", when, (int)(now % 1000000000 / 1000));
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

// Begins with a line end if the line before has none. A lock keeps a process from reading half of another's line;
// without locks the worst result is an empty line.
static ssize_t append_line(int fd, struct str line)
{
	ssize_t n;
	flock(fd, LOCK_EX);
	bool torn = is_torn(fd);
	do
		n = write(fd, line.ptr + !torn, line.len - !torn);
	while (n < 0 && errno == EINTR);
	flock(fd, LOCK_UN);
	return n < 0 ? n : n + !torn;
}

int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e)
{
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, SIZE_MAX / 2); // each field is bounded
	buf_putc(&line, '\n');
	add_time(&line);
	add_fields(entry, &line);
	buf_puts(&line, "}\n");
	ssize_t n = append_line(a->fd, buf_view(&line));
	if (n < 0)
		return err_errno(e, ERR_IO, "audit log %s", a->path);
	if ((size_t)n < line.len)
		return err_set(e, ERR_FULL, "audit log %s: only a part of the line could be written", a->path);
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

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit-rotate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"

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

bool audit_is_in_place(const char *path, int fd)
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

bool audit_rotate(const char *path, int fd, uint64_t max_size, uint64_t keep)
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

// SPDX-License-Identifier: Apache-2.0
#include "lib/os/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/os/fs.h"

enum {
	DEEPEST = 32,      // levels that are open at once; what is deeper is moved up
	NAME_OF_DEEP = 32, // bytes
	NAMES_TRIED = 1000,
};

struct tree_removal {
	int top;        // the open folder that is removed; what is deep is moved into it
	unsigned moved; // folders that were moved
	bool has_failed;
	struct err *e; // the first failure
};

static void note_stuck(struct tree_removal *r, const char *name)
{
	if (!r->has_failed)
		err_errno(r->e, ERR_IO, "cannot remove %s", name);
	r->has_failed = true;
}

// Opens the folder, which its mode must not prevent.
static int open_to_empty(int dirfd, const char *name)
{
	enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int fd = openat(dirfd, name, FLAGS);
	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, S_IRWXU, 0) == 0)
		fd = openat(dirfd, name, FLAGS);
	if (fd >= 0 && fchmod(fd, S_IRWXU) < 0)
		log_debug("%s: its mode cannot be changed: errno %d", name, errno);
	return fd;
}

// Moves a folder from far below to the top, which is listed again. A name there may be taken.
static void move_up(struct tree_removal *r, int dirfd, const char *name)
{
	char to[NAME_OF_DEEP];
	bool may_try = fchmodat(dirfd, name, S_IRWXU, 0) == 0; // its ".." changes
	for (unsigned try = 0; may_try && try < NAMES_TRIED; try++) {
		snprintf(to, sizeof(to), ".deep-%u", r->moved++);
		if (renameat(dirfd, name, r->top, to) == 0)
			return;
		may_try = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
	}
	note_stuck(r, name);
}

static void remove_tree_entry(struct tree_removal *r, int dirfd, const char *name, unsigned depth);

static void empty_folder(struct tree_removal *r, int fd, const char *path, unsigned depth)
{
	int listed = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		note_stuck(r, path);
		mem_close(&listed);
		return;
	}
	rewinddir(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_tree_entry(r, fd, entry->d_name, depth);
}

static void remove_tree_entry(struct tree_removal *r, int dirfd, const char *name, unsigned depth)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	if (errno != EISDIR && errno != EPERM) {
		note_stuck(r, name);
		return;
	}
	if (depth == DEEPEST) {
		move_up(r, dirfd, name);
		return;
	}
	CLEANUP(mem_close) int fd = open_to_empty(dirfd, name);
	if (fd >= 0)
		empty_folder(r, fd, name, depth + 1);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		note_stuck(r, name);
}

int tree_remove(int dirfd, const char *name, struct err *e)
{
	struct tree_removal r = {.e = e};
	CLEANUP(mem_close) int top = open_to_empty(dirfd, name);
	if (top < 0 && errno == ENOENT)
		return 0;
	r.top = top;
	unsigned moved;
	do { // until nothing more was moved up
		moved = r.moved;
		if (top >= 0)
			empty_folder(&r, top, name, 1);
	} while (r.moved > moved && !r.has_failed);
	if (unlinkat(dirfd, name, top >= 0 ? AT_REMOVEDIR : 0) < 0)
		note_stuck(&r, name);
	return r.has_failed ? -1 : 0;
}

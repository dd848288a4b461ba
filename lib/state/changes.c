// SPDX-License-Identifier: Apache-2.0
#include "lib/state/changes.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/fs.h"
#include "lib/base/mem.h"

enum { SIZE = sizeof(uint32_t) };

// A file that root makes is the catalog's owner's, whose server must be able to map it.
static int open_file(const char *path)
{
	CLEANUP(mem_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	if (st.st_size >= SIZE)
		return mem_steal_fd(&fd);
	long slash = str_rfind(str_from(path), '/');
	CLEANUP(mem_free)
	char *parent = slash < 0 ? xstrdup(".") : xstrndup(path, (size_t)slash + 1);
	CLEANUP(mem_close) int folder = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fs_give_to_owner(fd, folder);
	return ftruncate(fd, SIZE) < 0 ? -1 : mem_steal_fd(&fd);
}

// at NULL: anywhere; else in place of what is there, which nobody can see half done (mmap(2)).
static void *map(const char *path, void *at)
{
	CLEANUP(mem_close) int fd = open_file(path);
	if (fd < 0)
		return NULL;
	int flags = MAP_SHARED | (at ? MAP_FIXED : 0);
	void *word = mmap(at, SIZE, PROT_READ | PROT_WRITE, flags, fd, 0);
	return word == MAP_FAILED ? NULL : word;
}

struct changes *changes_open(const char *catalog_path)
{
	CLEANUP(mem_free) char *path = xasprintf("%s-changes", catalog_path);
	void *word = map(path, NULL);
	if (!word)
		return NULL;
	struct changes *c = xcalloc(1, sizeof(*c));
	c->word = word;
	c->path = STEAL_PTR(path);
	return c;
}

static _Atomic uint32_t *word_of(const struct changes *c)
{
	return (_Atomic uint32_t *)(uintptr_t)c->word;
}

void changes_close(struct changes *c)
{
	if (!c)
		return;
	munmap(word_of(c), SIZE);
	free(c->path);
	free(c);
}

// Where there is no new one, the old one stays: then nobody raises it, and all look now and then.
void changes_renew(struct changes *c)
{
	if (c && !map(c->path, word_of(c)))
		return;
}

void changes_raise(struct changes *c)
{
	if (!c)
		return;
	atomic_fetch_add_explicit(word_of(c), 1, memory_order_release);
	syscall(SYS_futex, word_of(c), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void changes_wait(struct changes *c, uint32_t seen, unsigned milliseconds)
{
	const struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000L};
	if (c)
		syscall(SYS_futex, word_of(c), FUTEX_WAIT, seen, &limit, NULL, 0);
	else
		nanosleep(&limit, NULL);
}

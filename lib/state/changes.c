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

#include "lib/base/mem.h"
#include "lib/base/safefile.h"

enum { SIZE = sizeof(uint32_t) };

// A file that root makes is the catalog's owner's, whose server must be able to map it.
static int open_file(const char *path)
{
	struct stat st;
	struct err unsaid = ERR_INIT;
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDWR | O_CREAT, &unsaid);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (st.st_size >= SIZE)
		return mem_steal_fd(&fd);
	return ftruncate(fd, SIZE) < 0 ? -1 : mem_steal_fd(&fd);
}

struct changes_mapping {
	struct changes_mapping *before;
	_Atomic uint32_t *word;
	dev_t device; // of the file
	ino_t inode;
};

// Where there is no new file, nothing happens: then nobody raises the number, and all look now and then.
static void map(struct changes *c)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open_file(c->path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	if (c->mapping && c->mapping->device == st.st_dev && c->mapping->inode == st.st_ino)
		return;
	void *word = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		return;
	struct changes_mapping *m = xcalloc(1, sizeof(*m));
	*m = (struct changes_mapping){c->mapping, word, st.st_dev, st.st_ino};
	c->mapping = m;
	atomic_store_explicit(&c->word, m->word, memory_order_release);
}

void changes_close(struct changes *c)
{
	if (!c)
		return;
	for (struct changes_mapping *m = c->mapping, *before; m; m = before) {
		before = m->before;
		munmap(m->word, SIZE);
		free(m);
	}
	free(c->path);
	free(c);
}

struct changes *changes_open(const char *catalog_path)
{
	struct changes *c = xcalloc(1, sizeof(*c));
	c->path = xasprintf("%s-changes", catalog_path);
	map(c);
	if (c->mapping)
		return c;
	changes_close(c);
	return NULL;
}

void changes_renew(struct changes *c)
{
	if (c)
		map(c);
}

static _Atomic uint32_t *word_of(const struct changes *c)
{
	return atomic_load_explicit(&c->word, memory_order_acquire);
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

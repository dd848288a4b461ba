// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/safefile.h"
#include "lib/state/config/state-files.h"

enum { SIZE = sizeof(uint32_t) };

// A file that root creates belongs to the catalog's owner, whose server must be able to map it.
static int open_file(const char *path)
{
	struct stat st;
	struct err unsaid = ERR_INIT;
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDWR | O_CREAT, &unsaid);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	// Allocates the block, so that a full disk is an error here and not a signal later. Not if the file has it:
	// that would change its times.
	bool has_block = st.st_size >= SIZE && st.st_blocks > 0;
	return !has_block && posix_fallocate(fd, 0, SIZE) != 0 ? -1 : mem_steal_fd(&fd);
}

// --- a file that is truncated while it is mapped ---

// A mapped page, for the signal handler, which may run in any thread. Never freed, but reused.
struct guard {
	struct guard *next;
	_Atomic uintptr_t page; // 0: unused
	atomic_bool is_lost;    // the page is no longer part of the file
};

static struct guard *_Atomic guards;
static struct sigaction before_us;

// SIGBUS at a mapped page: the file was truncated, or its disk failed. A private page replaces it, so that readers and
// writers of the number continue; changes_wait maps the file again. Calls the system call itself: mmap() is not
// async-signal-safe, and ThreadSanitizer takes it for a write.
static void on_bus_error(int number, siginfo_t *info, void *context UNUSED)
{
	const uintptr_t at = (uintptr_t)info->si_addr, size = (uintptr_t)sysconf(_SC_PAGESIZE);
	int kept = errno;
	bool is_ours = false;
	for (struct guard *g = atomic_load(&guards); g; g = g->next) {
		uintptr_t page = atomic_load(&g->page);
		if (!page || at < page || at - page >= size)
			continue;
		is_ours = syscall(SYS_mmap, page, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				  -1, 0) != -1;
		atomic_store(&g->is_lost, true);
	}
	if (!is_ours)
		sigaction(number, &before_us, NULL); // it comes again at once
	errno = kept;
}

static void watch_bus_errors(void)
{
	struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGBUS, &ours, &before_us);
}

static struct guard *guard_page(void *page)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, watch_bus_errors);
	for (struct guard *g = atomic_load(&guards); g; g = g->next) {
		uintptr_t nobodys = 0;
		if (!atomic_compare_exchange_strong(&g->page, &nobodys, (uintptr_t)page))
			continue;
		atomic_store(&g->is_lost, false);
		return g;
	}
	struct guard *g = xcalloc(1, sizeof(*g));
	atomic_init(&g->page, (uintptr_t)page);
	g->next = atomic_load(&guards);
	while (!atomic_compare_exchange_weak(&guards, &g->next, g))
		;
	return g;
}

// --- mappings ---

struct changes_mapping {
	struct changes_mapping *before;
	_Atomic uint32_t *word;
	struct guard *guard;
	dev_t device; // of the file
	ino_t inode;
};

// Without a new file nothing happens: no process raises the number, and all poll the catalog.
static void map_file(struct changes *c)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open_file(c->path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	bool is_lost = c->mapping && atomic_load(&c->mapping->guard->is_lost);
	if (c->mapping && !is_lost && c->mapping->device == st.st_dev && c->mapping->inode == st.st_ino)
		return;
	void *word = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		return;
	struct changes_mapping *m = xcalloc(1, sizeof(*m));
	*m = (struct changes_mapping){c->mapping, word, guard_page(word), st.st_dev, st.st_ino};
	c->mapping = m;
	atomic_store_explicit(&c->word, m->word, memory_order_release);
}

void changes_close(struct changes *c)
{
	if (!c)
		return;
	for (struct changes_mapping *m = c->mapping, *before; m; m = before) {
		before = m->before;
		atomic_store(&m->guard->page, 0);
		munmap(m->word, SIZE);
		free(m);
	}
	free(c->path);
	free(c);
}

struct changes *changes_open(const char *catalog_path)
{
	struct changes *c = xcalloc(1, sizeof(*c));
	c->path = state_file(NULL, catalog_path, STATE_FILE_CHANGES);
	map_file(c);
	if (c->mapping)
		return c;
	changes_close(c);
	return NULL;
}

void changes_renew(struct changes *c)
{
	if (c)
		map_file(c);
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

// The kernel reads the word too, and returns EFAULT if the file was just truncated.
void changes_wait(struct changes *c, uint32_t seen, unsigned milliseconds)
{
	const struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000L};
	if (c && atomic_load(&c->mapping->guard->is_lost))
		map_file(c);
	if (c && changes_read(c) != seen)
		return;
	if (!c || (syscall(SYS_futex, word_of(c), FUTEX_WAIT, seen, &limit, NULL, 0) < 0 && errno == EFAULT))
		nanosleep(&limit, NULL);
}

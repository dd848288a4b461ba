// SPDX-License-Identifier: Apache-2.0
#include "lib/place/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/fs.h"

struct spool {
	unsigned refs; // that of the list of kept files is one
	int fd;
	uint64_t size;
	char *name; // NULL: it is not kept
	struct spool *next;
};

static struct {
	pthread_mutex_t lock;
	uint64_t limit, used;
	struct spool *kept; // the one that was used last is the first
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};

void spool_limit(uint64_t bytes)
{
	pthread_mutex_lock(&all.lock);
	all.limit = bytes;
	pthread_mutex_unlock(&all.lock);
}

struct spool *spool_new(struct err *e)
{
	const char *folder = getenv("TMPDIR");
	folder = folder && *folder ? folder : "/var/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		CLEANUP(mem_free) char *name = xasprintf("%s/wheelcache-XXXXXX", folder);
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	if (fd < 0) {
		err_errno(e, fs_kind_of_write(), "a temporary file in %s", folder);
		return NULL;
	}
	struct spool *s = xcalloc(1, sizeof(*s));
	*s = (struct spool){.refs = 1, .fd = fd};
	return s;
}

static void end_file(struct spool *s)
{
	all.used -= s->size;
	close(s->fd);
	free(s->name);
	free(s);
}

static void drop(struct spool *s)
{
	if (--s->refs == 0)
		end_file(s);
}

struct spool *spool_ref(struct spool *s)
{
	pthread_mutex_lock(&all.lock);
	s->refs++;
	pthread_mutex_unlock(&all.lock);
	return s;
}

void spool_unref(struct spool *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&all.lock);
	drop(s);
	pthread_mutex_unlock(&all.lock);
}

int spool_fd(const struct spool *s)
{
	return s->fd;
}

// Ends kept files that nobody reads, the one that was used longest ago first, until there is room.
static void end_unused(uint64_t more)
{
	while (all.limit - more < all.used) {
		struct spool **oldest = NULL;
		for (struct spool **at = &all.kept; *at; at = &(*at)->next)
			if ((*at)->refs == 1)
				oldest = at;
		if (!oldest)
			return;
		struct spool *ended = *oldest;
		*oldest = ended->next;
		drop(ended);
	}
}

static int take_room(struct spool *s, uint64_t more, struct err *e)
{
	pthread_mutex_lock(&all.lock);
	uint64_t limit = all.limit;
	bool is_too_large = more > limit || s->size > limit - more;
	if (!is_too_large)
		end_unused(more);
	bool has_room = !is_too_large && all.used <= limit - more;
	if (has_room) {
		all.used += more;
		s->size += more;
	}
	pthread_mutex_unlock(&all.lock);
	if (is_too_large)
		return err_set(e, ERR_LIMIT, "more than [upload] spool-size, %llu bytes", (unsigned long long)limit);
	return has_room ? 0
			: err_set(e, ERR_BUSY,
				  "other files that are under way have all %llu bytes of [upload] spool-size; try again",
				  (unsigned long long)limit);
}

int spool_add(struct spool *s, struct str bytes, struct err *e)
{
	off_t at = (off_t)s->size;
	if (take_room(s, bytes.len, e) < 0)
		return -1;
	while (bytes.len) {
		ssize_t n = pwrite(s->fd, bytes.ptr, bytes.len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, fs_kind_of_write(), "a temporary file");
		at += n;
		bytes = str_slice(bytes, (size_t)n, bytes.len);
	}
	return 0;
}

// The place in the list of the file of this name.
static struct spool **find_kept(const char *name)
{
	struct spool **at = &all.kept;
	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

static void put_first(struct spool *s)
{
	s->next = all.kept;
	all.kept = s;
}

void spool_keep(struct spool *s, const char *name)
{
	pthread_mutex_lock(&all.lock);
	struct spool **before = find_kept(name), *old = *before;
	if (!s->name && old) {
		*before = old->next;
		drop(old);
	}
	if (!s->name) {
		s->name = xstrdup(name);
		s->refs++;
		put_first(s);
	}
	pthread_mutex_unlock(&all.lock);
}

struct spool *spool_find(const char *name)
{
	pthread_mutex_lock(&all.lock);
	struct spool **at = find_kept(name), *s = *at;
	if (s) {
		*at = s->next;
		put_first(s);
		s->refs++;
	}
	pthread_mutex_unlock(&all.lock);
	return s;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-memo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/lru.h"
#include "lib/domain/lock/lock-read.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

struct lock_entry {
	struct lru_entry entry; // the first member; of the path
	struct lock_memo memo;
	atomic_uint refs;
	struct stat seen;
	char path[];
};

static struct {
	pthread_mutex_t lock;
	struct lru index; // which has a reference to each
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct lock_entry *entry_of_memo(const struct lock_memo *m)
{
	return (struct lock_entry *)(uintptr_t)((const char *)m - offsetof(struct lock_entry, memo));
}

void lock_memo_unref(const struct lock_memo *m)
{
	struct lock_entry *k = m ? entry_of_memo(m) : NULL;
	if (!k || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1)
		return;
	lock_release(&k->memo.lock);
	free(k);
}

static size_t memory_of(const struct lock *l)
{
	return l->text.room + l->room.total + l->package_room * sizeof(*l->package) + l->file_room * sizeof(*l->file) +
	       l->slot_room * sizeof(*l->slot) + l->edge_room * sizeof(*l->edge) + l->marker_room * sizeof(*l->marker);
}

static const struct lock_memo *find_kept_lock(const char *path, const struct stat *now)
{
	const struct lock_memo *found = NULL;
	struct str key = str_from(path);
	pthread_mutex_lock(&all.lock);
	struct lock_entry *k = (struct lock_entry *)lru_find(&all.index, hash_of(key, 0), key);
	if (k && fs_is_unchanged(&k->seen, now)) {
		lru_touch(&all.index, &k->entry);
		atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
		found = &k->memo;
	}
	pthread_mutex_unlock(&all.lock);
	return found;
}

static void keep_lock(struct lock_entry *k)
{
	struct lock_entry *evicted;
	pthread_mutex_lock(&all.lock);
	struct lru_entry *before = lru_find(&all.index, k->entry.hash, k->entry.key);
	if (before) {
		lru_remove(&all.index, before);
		lock_memo_unref(&((struct lock_entry *)before)->memo);
	}
	atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
	lru_add(&all.index, &k->entry);
	while ((evicted = (struct lock_entry *)lru_evict(&all.index, LIMIT_LOCKS_KEPT)))
		lock_memo_unref(&evicted->memo);
	pthread_mutex_unlock(&all.lock);
}

static struct lock_entry *read_lock_entry(const char *path, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_LOCK);
	if (fs_read_regular(path, &text, e) < 0)
		return NULL;
	size_t length = strlen(path);
	struct lock_entry *k = xcalloc(1, sizeof(*k) + length + 1);
	memcpy(k->path, path, length);
	atomic_init(&k->refs, 1);
	k->memo.bytes = text.len;
	digest_sha256(buf_view(&text), k->memo.sha256);
	if (lock_parse(&text, path, &k->memo.lock, e) == 0)
		return k;
	lock_memo_unref(&k->memo);
	return NULL;
}

const struct lock_memo *lock_memo_read(const char *path, struct err *e)
{
	struct stat before, after;
	bool is_there = stat(path, &before) == 0;
	const struct lock_memo *found = is_there ? find_kept_lock(path, &before) : NULL;
	if (found)
		return found;
	int64_t looked_at = clock_wall_ns();
	struct lock_entry *k = read_lock_entry(path, e);
	if (!k)
		return NULL;
	k->seen = before;
	k->entry.key = str_from(k->path);
	k->entry.hash = hash_of(k->entry.key, 0);
	k->entry.weight = memory_of(&k->memo.lock) + sizeof(*k);
	if (is_there && stat(path, &after) == 0 && fs_is_unchanged(&before, &after) &&
		fs_mtime_is_reliable(fs_mtime_ns(&before), looked_at))
		keep_lock(k);
	return &k->memo;
}

// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/kept-locks.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "builder/missing/branch.h"
#include "lib/base/limits.h"
#include "lib/domain/lock/lock-memo.h"

struct kept_hash {
	uint8_t sha256[SHA256_SIZE];
	const char *path; // in text
};

// Requirements without hashes protect nothing, which nobody means who names them here.
static bool pins_by_version_alone(const struct lock *l)
{
	bool has_package = false;
	for (size_t i = 0; i < l->files; i++)
		if (l->file[i].has_sha256)
			return false;
	for (size_t i = 0; i < l->packages && !has_package; i++)
		has_package = !l->package[i].source;
	return has_package;
}

static int read_lock(struct kept_locks *k, const char *path, bool needs_hashes, struct err *e)
{
	const struct lock_memo *m = lock_memo_read(path, e);
	if (!m)
		return -1;
	if (needs_hashes && pins_by_version_alone(&m->lock)) {
		lock_memo_unref(m);
		return err_set(e, ERR_USAGE, "%s names no SHA-256, so it protects no file: [prune] constraints does", path);
	}
	const char *name = arena_copy(&k->text, str_from(path));
	for (size_t i = 0; i < m->lock.files; i++) {
		if (!m->lock.file[i].has_sha256)
			continue;
		GROW(k->hash, k->count, k->room);
		struct kept_hash *h = &k->hash[k->count++];
		h->path = name;
		memcpy(h->sha256, m->lock.file[i].sha256, SHA256_SIZE);
	}
	lock_memo_unref(m);
	return 0;
}

// A folder that is not there has no file; one that cannot be read may have some.
static int on_lock_folder_error(const char *path UNUSED, int error)
{
	return error != ENOENT && error != ENOTDIR;
}

// A name without a pattern leads to itself, so that an error says why it cannot be read.
static int read_locks(struct kept_locks *k, const char *pattern, bool needs_hashes, size_t *files, struct err *e)
{
	CLEANUP(globfree) glob_t found = {0};
	int result = glob(pattern, strpbrk(pattern, "*?[") ? 0 : GLOB_NOCHECK, on_lock_folder_error, &found);
	if (result == GLOB_NOMATCH)
		return err_set(e, ERR_USAGE, "no file matches %s", pattern);
	if (result)
		return err_set(e, ERR_IO, "%s: a folder of it cannot be read", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (++*files > LIMIT_BRANCH_FILES)
			return err_set(e, ERR_USAGE, "more than %d files", LIMIT_BRANCH_FILES);
		if (read_lock(k, found.gl_pathv[i], needs_hashes, e) < 0)
			return -1;
	}
	return 0;
}

static int compare_hashes(const void *a, const void *b)
{
	const struct kept_hash *left = a, *right = b;
	int order = memcmp(left->sha256, right->sha256, SHA256_SIZE);
	return order ? order : strcmp(left->path, right->path);
}

// The value of a key: paths and globs, or NULL.
static int read_all_locks(struct kept_locks *k, const char *patterns, bool needs_hashes, size_t *files, struct err *e)
{
	for (struct str rest = str_from(patterns ? patterns : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *pattern = xstrndup(word.ptr, word.len);
		if (read_locks(k, pattern, needs_hashes, files, e) < 0)
			return -1;
	}
	return 0;
}

int kept_locks_read(const struct config *c, int64_t now, struct digest *d, struct kept_locks *out, struct err *e)
{
	size_t files = 0;
	*out = (struct kept_locks){0};
	if (read_all_locks(out, c->prune_locks, true, &files, e) < 0)
		return err_prefix(e, "[prune] locks: ");
	for (size_t i = 0; i < c->branch_count; i++)
		if (!branch_is_over(&c->branches[i], now) && read_all_locks(out, c->branches[i].locks, false, &files, e) < 0)
			return err_prefix(e, "[branch %s] locks: ", c->branches[i].name);
	if (out->count)
		qsort(out->hash, out->count, sizeof(*out->hash), compare_hashes);
	uint64_t count = out->count;
	if (d)
		digest_add(d, &count, sizeof(count));
	for (size_t i = 0; d && i < out->count; i++)
		digest_add(d, out->hash[i].sha256, SHA256_SIZE);
	return 0;
}

void kept_locks_release(struct kept_locks *k)
{
	free(k->hash);
	arena_release(&k->text);
	*k = (struct kept_locks){0};
}

static int compare_with_hash(const void *sha256, const void *hash)
{
	return memcmp(sha256, ((const struct kept_hash *)hash)->sha256, SHA256_SIZE);
}

const char *kept_locks_find(const struct kept_locks *k, const uint8_t *sha256)
{
	const struct kept_hash *found =
		sha256 && k->count ? bsearch(sha256, k->hash, k->count, sizeof(*k->hash), compare_with_hash) : NULL;
	return found ? found->path : NULL;
}

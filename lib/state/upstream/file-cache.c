// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/file-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/place/tempname.h"
#include "lib/state/upstream/mirror-pins.h"

enum {
	DEPTH = 3,               // project, hash, file
	USE_SECONDS = 3600,      // a file's use is recorded at most this often
	LEFT_PART = 20,          // this part of the bound is freed at once, so that not every new file removes others
	RESERVED_STEP = 1 << 20, // for a file of unknown size
};

// Pinned files are apart: the bound does not count them.
enum { PART_BOUND, PART_PINNED, PARTS };
struct file_cache_part {
	uint64_t files, bytes;
	uint64_t reserved;  // by writers
	uint64_t unwritten; // the part of it that is still free on the disk
};

struct file_cache {
	char *path;
	int dirfd;
	_Atomic uint64_t most;
	struct mirror_pins *pins;
	pthread_mutex_t lock; // of the counts, and of making room
	struct file_cache_part part[PARTS];
};

struct file_cache_writer {
	struct file_cache *file_cache;
	struct file_cache_part *part; // that it counts in
	char *project, *filename;
	int dirfd; // of the cache; the file's own folders are created when it is complete
	char tmp_name[TEMPNAME_NAME];
	struct fs_tmp tmp;
	struct digest *digest;
	bool is_known;
	uint8_t expected[SHA256_SIZE];
	uint64_t size;
	uint64_t reserved; // at least size, until it is complete
};

// --- listing ---

struct kept {
	char *path; // below the cache
	uint64_t size;
	int64_t used; // seconds since 1970
};

struct cache_listing {
	struct mirror_pins *pins;
	struct kept *kept; // those that may be removed
	size_t count, room;
	uint64_t bytes, pinned, pinned_bytes;
};

static void cache_listing_release(struct cache_listing *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->kept[i].path);
	free(v->kept);
}

// folder: PROJECT/HASH.
static bool is_pinned_folder(const struct cache_listing *v, const char *folder)
{
	uint8_t sha256[SHA256_SIZE];
	const char *hex = strchr(folder, '/');
	return hex && hex_decode(str_from(hex + 1), sha256, SHA256_SIZE) && mirror_pins_may_have(v->pins, sha256);
}

static int walk_cache(const char *path, int dirfd, unsigned depth, struct cache_listing *v, struct err *e);

static int walk_entry(const char *folder, int dirfd, const char *name, unsigned depth, struct cache_listing *v,
	struct err *e)
{
	struct stat st;
	CLEANUP(mem_free) char *path = *folder ? xasprintf("%s/%s", folder, name) : xstrdup(name);
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", path);
	if (S_ISDIR(st.st_mode) && depth < DEPTH) {
		CLEANUP(mem_close) int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", path);
		return walk_cache(path, fd, depth + 1, v, e);
	}
	if (!S_ISREG(st.st_mode) || depth != DEPTH)
		return 0;
	if (is_pinned_folder(v, folder)) {
		v->pinned++;
		v->pinned_bytes += (uint64_t)st.st_size;
		return 0;
	}
	GROW(v->kept, v->count, v->room);
	v->kept[v->count++] = (struct kept){STEAL_PTR(path), (uint64_t)st.st_size, st.st_mtime};
	v->bytes += (uint64_t)st.st_size;
	return 0;
}

// Other processes may add and remove files meanwhile.
static int walk_cache(const char *path, int dirfd, unsigned depth, struct cache_listing *v, struct err *e)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err_errno(e, ERR_IO, "%s", path);
		mem_close(&fd);
		return -1;
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (tempname_is(entry->d_name))
			tempname_sweep(dirfd, entry->d_name);
		else if (entry->d_name[0] != '.' && walk_entry(path, dirfd, entry->d_name, depth, v, e) < 0)
			return -1;
	}
	return 0;
}

// --- making room ---

static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return strcmp(x->path, y->path);
}

// Removes the file, and its folders if they are empty.
static void discard_entry(const struct file_cache *d, char *path)
{
	unlinkat(d->dirfd, path, 0);
	for (unsigned depth = 1; depth < DEPTH; depth++) {
		*strrchr(path, '/') = '\0';
		if (unlinkat(d->dirfd, path, AT_REMOVEDIR) < 0)
			return;
	}
}

// Counts the files again, because other processes may share the cache. If those that are not pinned exceed `most`
// bytes, removes the least recently used of them, and a little more. Under the lock.
static int make_room(struct file_cache *d, uint64_t most, struct err *e)
{
	CLEANUP(cache_listing_release) struct cache_listing v = {.pins = d->pins};
	if (d->pins)
		mirror_pins_look(d->pins);
	if (walk_cache("", d->dirfd, 1, &v, e) < 0)
		return err_prefix(e, "%s: ", d->path);
	size_t gone = 0;
	if (v.bytes > most) {
		qsort(v.kept, v.count, sizeof(*v.kept), by_use);
		for (; gone < v.count && v.bytes > most - most / LEFT_PART; gone++) {
			v.bytes -= v.kept[gone].size;
			discard_entry(d, v.kept[gone].path);
		}
	}
	d->part[PART_BOUND].files = v.count - gone;
	d->part[PART_BOUND].bytes = v.bytes;
	d->part[PART_PINNED].files = v.pinned;
	d->part[PART_PINNED].bytes = v.pinned_bytes;
	return 0;
}

// Under the lock. A download displaces files as it is written, not earlier: it may fail.
static void bound(struct file_cache *d)
{
	struct err e = ERR_INIT;
	const struct file_cache_part *part = &d->part[PART_BOUND];
	uint64_t written = part->reserved - part->unwritten, most = d->most > written ? d->most - written : 0;
	if (part->bytes > most && make_room(d, most, &e) < 0)
		log_warn("cannot remove old files from the cache of upstream's files: %s", e.msg);
}

static void count_in(struct file_cache_writer *a)
{
	pthread_mutex_lock(&a->file_cache->lock);
	a->part->files++;
	a->part->bytes += a->size;
	bound(a->file_cache);
	pthread_mutex_unlock(&a->file_cache->lock);
}

// --- reservations ---

// Under the lock.
static bool disk_has(const struct file_cache *d, uint64_t more)
{
	struct statvfs disk;
	if (fstatvfs(d->dirfd, &disk) < 0)
		return true; // unknown; a write reports a full disk
	uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
	uint64_t unwritten = d->part[PART_BOUND].unwritten + d->part[PART_PINNED].unwritten;
	return unwritten <= left && more <= left - unwritten;
}

// If the disk has no room, removes the files that the new one will displace anyway; a pinned one displaces none.
static int ask_disk(struct file_cache_writer *a, uint64_t more, struct err *e)
{
	struct file_cache *d = a->file_cache;
	const struct file_cache_part *part = &d->part[PART_BOUND];
	if (disk_has(d, more))
		return 0;
	uint64_t most = a->part == part ? d->most - part->reserved - more : UINT64_MAX;
	if (part->bytes > most && make_room(d, most, e) < 0)
		return -1;
	if (disk_has(d, more))
		return 0;
	return err_set(e, ERR_FULL, "%s: the disk has no room for %llu bytes more", d->path, (unsigned long long)more);
}

static int reserve_bytes(struct file_cache_writer *a, uint64_t size, struct err *e)
{
	struct file_cache *d = a->file_cache;
	uint64_t want = size > a->size ? size : a->size, others = a->part->reserved - a->reserved;
	if (want > a->reserved) {
		uint64_t most = a->part == &d->part[PART_BOUND] ? d->most : UINT64_MAX;
		if (want > most)
			return err_set(e, ERR_LIMIT, "%s: larger than the whole file cache", a->filename);
		if (others > most || want > most - others)
			return err_set(e, ERR_LIMIT, "%s: downloads under way have reserved the whole file cache",
				a->filename);
		if (ask_disk(a, want - a->reserved, e) < 0)
			return -1;
	}
	a->part->unwritten += want - a->reserved; // less, where it wraps around
	a->part->reserved = others + want;
	a->reserved = want;
	return 0;
}

int file_cache_writer_reserve(struct file_cache_writer *a, uint64_t size, struct err *e)
{
	pthread_mutex_lock(&a->file_cache->lock);
	int reserved = reserve_bytes(a, size, e);
	pthread_mutex_unlock(&a->file_cache->lock);
	return reserved;
}

static void release_reserved(struct file_cache_writer *a)
{
	struct file_cache *d = a->file_cache;
	pthread_mutex_lock(&d->lock);
	a->part->reserved -= a->reserved;
	a->part->unwritten -= a->reserved - (a->size < a->reserved ? a->size : a->reserved);
	a->reserved = 0;
	pthread_mutex_unlock(&d->lock);
}

static void note_written(struct file_cache_writer *a, size_t len)
{
	pthread_mutex_lock(&a->file_cache->lock);
	a->size += len;
	a->part->unwritten -= len;
	bound(a->file_cache);
	pthread_mutex_unlock(&a->file_cache->lock);
}

uint64_t file_cache_reserved(struct file_cache *d)
{
	pthread_mutex_lock(&d->lock);
	uint64_t reserved = d->part[PART_BOUND].reserved + d->part[PART_PINNED].reserved;
	pthread_mutex_unlock(&d->lock);
	return reserved;
}

uint64_t file_cache_most(const struct file_cache *d)
{
	return d->most;
}

uint64_t file_cache_most_of(struct file_cache *d, const uint8_t *sha256)
{
	return mirror_pins_has(d->pins, sha256) ? UINT64_MAX : d->most;
}

void file_cache_limit(struct file_cache *d, uint64_t most_bytes)
{
	pthread_mutex_lock(&d->lock);
	d->most = most_bytes;
	bound(d);
	pthread_mutex_unlock(&d->lock);
}

// --- opening, closing ---

int file_cache_open(const char *path, uint64_t most_bytes, struct mirror_pins *pins, struct file_cache **out,
	struct err *e)
{
	CLEANUP(file_cache_cleanup) struct file_cache *d = xcalloc(1, sizeof(*d));
	d->path = xstrdup(path);
	d->most = most_bytes;
	d->pins = pins;
	d->dirfd = -1;
	pthread_mutex_init(&d->lock, NULL);
	d->dirfd = safefile_folder(path, true, e);
	if (d->dirfd < 0 || make_room(d, most_bytes, e) < 0)
		return -1;
	*out = STEAL_PTR(d);
	return 0;
}

void file_cache_close(struct file_cache *d)
{
	if (!d)
		return;
	mem_close(&d->dirfd);
	pthread_mutex_destroy(&d->lock);
	free(d->path);
	free(d);
}

void file_cache_cleanup(struct file_cache **d)
{
	file_cache_close(*d);
}

void file_cache_totals(struct file_cache *d, uint64_t *files, uint64_t *bytes)
{
	pthread_mutex_lock(&d->lock);
	*files = d->part[PART_BOUND].files + d->part[PART_PINNED].files;
	*bytes = d->part[PART_BOUND].bytes + d->part[PART_PINNED].bytes;
	pthread_mutex_unlock(&d->lock);
}

// --- finding ---

// Both are input from clients and become parts of a path.
static int check_names(const char *project, const char *filename, struct err *e)
{
	if (!name_is_valid(str_from(project)) || !name_is_normal(str_from(project)))
		return err_set(e, ERR_INVALID, "%s: not a project's normalised name", project);
	if (!*filename || *filename == '.' || strlen(filename) > LIMIT_FILE_NAME)
		return err_set(e, ERR_INVALID, "%.255s: not a valid file name", filename);
	return filename_check(str_from(filename), e);
}

static char *path_of(const char *project, const char *filename, const uint8_t sha256[SHA256_SIZE])
{
	char hex[SHA256_HEX + 1] = "";
	hex_encode(sha256, SHA256_SIZE, hex);
	return xasprintf("%s/%s/%s", project, hex, filename);
}

static int open_kept(const struct file_cache *d, const char *project, const char *filename, struct file_cache_file *out,
	struct err *e)
{
	struct stat st;
	CLEANUP(mem_free) char *path = path_of(project, filename, out->sha256);
	CLEANUP(mem_close) int fd = fs_open_beneath(d->dirfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, ERR_NOT_FOUND, "%s: no file", path);
	int64_t now = clock_wall_seconds();
	if (now - st.st_mtime >= USE_SECONDS || st.st_mtime > now)
		futimens(fd, NULL);
	out->size = (uint64_t)st.st_size;
	out->fd = mem_steal_fd(&fd);
	return 0;
}

// Finds the most recently used file of this name, whatever its hash.
static int find_any(const struct file_cache *d, const char *project, const char *filename, uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	bool is_there = false;
	struct stat st;
	struct timespec newest = {0};
	int fd = fs_open_beneath(d->dirfd, project, O_RDONLY | O_DIRECTORY, e);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return -1;
	for (struct dirent *entry; (entry = readdir(dir));) {
		uint8_t hash[SHA256_SIZE];
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", entry->d_name, filename);
		if (!hex_decode(str_from(entry->d_name), hash, SHA256_SIZE) ||
			fstatat(dirfd(dir), path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (is_there && (st.st_mtim.tv_sec < newest.tv_sec ||
					(st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		is_there = true;
		newest = st.st_mtim;
		memcpy(sha256, hash, SHA256_SIZE);
	}
	return is_there ? 0 : err_set(e, ERR_NOT_FOUND, "%s: no file %s in the cache", project, filename);
}

int file_cache_find(struct file_cache *d, const char *project, const char *filename, const uint8_t *sha256,
	struct file_cache_file *out, struct err *e)
{
	*out = (struct file_cache_file){.fd = -1};
	if (check_names(project, filename, e) < 0)
		return -1;
	if (sha256)
		memcpy(out->sha256, sha256, SHA256_SIZE);
	else if (find_any(d, project, filename, out->sha256, e) < 0)
		return -1;
	return open_kept(d, project, filename, out, e);
}

bool file_cache_has(const char *cache, const char *project, const char *filename, const uint8_t sha256[SHA256_SIZE],
	int64_t size)
{
	struct stat st;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *below = path_of(project, filename, sha256);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", cache, below);
	return check_names(project, filename, &ignored) == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (size < 0 || st.st_size == size);
}

int file_cache_peek(const char *cache, const char *project, const char *filename, const uint8_t sha256[SHA256_SIZE],
	uint64_t *size)
{
	struct stat st;
	CLEANUP(mem_free) char *below = path_of(project, filename, sha256);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", cache, below);
	if (!file_cache_has(cache, project, filename, sha256, -1))
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) < 0)
		mem_close(&fd);
	*size = fd < 0 ? 0 : (uint64_t)st.st_size;
	return fd;
}

// --- writing ---

struct file_cache_writer *file_cache_begin(struct file_cache *d, const char *project, const char *filename,
	const uint8_t *sha256, uint64_t size, struct err *e)
{
	if (check_names(project, filename, e) < 0)
		return NULL;
	struct file_cache_writer *a = xcalloc(1, sizeof(*a));
	if (d->pins && sha256)
		mirror_pins_look(d->pins);
	a->file_cache = d;
	a->part = &d->part[mirror_pins_has(d->pins, sha256) ? PART_PINNED : PART_BOUND];
	a->project = xstrdup(project);
	a->filename = xstrdup(filename);
	a->digest = digest_new();
	a->is_known = sha256 != NULL;
	if (sha256)
		memcpy(a->expected, sha256, SHA256_SIZE);
	digest_begin(a->digest);
	tempname_name(a->tmp_name);
	if (file_cache_writer_reserve(a, size, e) == 0 &&
		fs_tmp_open_mode(&a->tmp, d->dirfd, a->tmp_name, a->tmp_name, SAFEFILE_MODE, e) == 0) {
		fs_give_to_owner(a->tmp.fd, d->dirfd);
		return a;
	}
	file_cache_writer_free(a);
	return NULL;
}

int file_cache_writer_write(struct file_cache_writer *a, const void *bytes, size_t len, struct err *e)
{
	if (a->size + len > a->reserved && file_cache_writer_reserve(a, a->size + len + RESERVED_STEP, e) < 0 &&
		file_cache_writer_reserve(a, a->size + len, e) < 0)
		return -1;
	if (fs_tmp_write(&a->tmp, (struct str){bytes, len}, e) < 0)
		return err_prefix(e, "%s: ", a->filename);
	digest_add(a->digest, bytes, len);
	note_written(a, len);
	return 0;
}

int file_cache_writer_fd(const struct file_cache_writer *a)
{
	return a->tmp.fd;
}

static int enter_folder(int folder, const char *name)
{
	bool is_new = mkdirat(folder, name, SAFEFILE_FOLDER_MODE) == 0;
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (is_new && fd >= 0)
		fs_give_to_owner(fd, folder);
	return fd;
}

// Retries: making room may remove the empty folders meanwhile.
static int put_cache_entry(struct file_cache_writer *a, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	char hex[SHA256_HEX + 1] = "";
	const struct file_cache *d = a->file_cache;
	hex_encode(sha256, SHA256_SIZE, hex);
	for (int tries = 0; tries < 10; tries++) {
		CLEANUP(mem_close) int project = enter_folder(d->dirfd, a->project);
		CLEANUP(mem_close) int folder = project < 0 ? -1 : enter_folder(project, hex);
		if (folder >= 0 && renameat(d->dirfd, a->tmp_name, folder, a->filename) == 0) {
			a->tmp.tmp = NULL;
			return 0;
		}
		if (errno != ENOENT)
			break;
	}
	return err_errno(e, fs_kind_of_write(), "%s/%s/%s/%s", d->path, a->project, hex, a->filename);
}

int file_cache_writer_check(struct file_cache_writer *a, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	release_reserved(a);
	digest_end(a->digest, sha256);
	if (a->is_known && memcmp(sha256, a->expected, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "%s: its SHA-256 is not the one that upstream declares", a->filename);
	return 0;
}

// Syncs the bytes before the file gets its name. The folders are not synced: a lost file is downloaded again.
int file_cache_writer_keep(struct file_cache_writer *a, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (fdatasync(a->tmp.fd) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", a->filename);
	if (put_cache_entry(a, sha256, e) < 0)
		return -1;
	count_in(a);
	return 0;
}

void file_cache_writer_discard(struct file_cache_writer *a)
{
	release_reserved(a);
	if (!a->tmp.tmp)
		return;
	unlinkat(a->tmp.dirfd, a->tmp.tmp, 0);
	a->tmp.tmp = NULL;
	if (ftruncate(a->tmp.fd, 0) < 0)
		log_warn("%s: its disk space is freed only after the last reader: %s", a->filename, strerror(errno));
}

void file_cache_writer_free(struct file_cache_writer *a)
{
	if (!a)
		return;
	release_reserved(a);
	fs_tmp_release(&a->tmp);
	digest_free(a->digest);
	free(a->project);
	free(a->filename);
	free(a);
}

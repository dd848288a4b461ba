// SPDX-License-Identifier: Apache-2.0
#include "lib/place/place-s3.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/blob.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/place/place-ops.h"
#include "lib/place/place-posix.h"
#include "lib/place/s3.h"
#include "lib/place/spool.h"

enum {
	HEAD_BYTES = 64 << 10,    // read when a file is opened
	WINDOW_BYTES = 256 << 10, // read at once of a file that is not read from its beginning to its end
	MARK_MS = 2000,           // how long it is known whether a mark is there
	MARKS = 64,
	ONE_KEY = 1,
};

static const int64_t second_ns = 1000000000;

struct s3_place {
	struct place base;
	struct s3_bucket *bucket;
	char *prefix; // "" or with "/" at its end
};

struct s3_entry {
	char *name;
	struct place_info info;
};

struct s3_folder {
	struct place_folder base;
	char *prefix; // of its keys
	struct s3_entry *entry; // as listed, in the order of the keys
	size_t count, room;
	bool is_listed;
};

struct s3_file {
	struct place_file base;
	struct s3_bucket *bucket;
	char *key;
	struct s3_object object;
	char *head;
	size_t head_len;
	pthread_mutex_t lock; // protects what follows
	struct spool *spool;  // all of it; NULL: it was not read
	char *window;
	uint64_t window_at;
	size_t window_len;
};

struct s3_write {
	struct place_write base;
	const struct s3_place *place;
	struct s3_folder *folder; // borrowed
	char *key;
	struct spool *spool;
	struct digest *digest; // NULL: sha256 has it
	uint8_t sha256[SHA256_SIZE];
	uint64_t size;
	struct place_file *file; // of the spool
};

static const struct place_ops s3_ops;

// Marks that were looked at, such as that of a freeze, at which each step of an upload looks. Each has one slot.
static struct {
	pthread_mutex_t lock;
	struct mark_seen {
		uint64_t key; // a hash of it that nobody outside can find another key for
		int found;
		struct place_info info;
		int64_t until_ms;
	} slot[MARKS];
} marks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct s3_place *bucket_place(const struct place *p)
{
	return (const struct s3_place *)p;
}

static struct s3_folder *folder_of(struct place_folder *f)
{
	return (struct s3_folder *)f;
}

static struct s3_file *file_of(struct place_file *f)
{
	return (struct s3_file *)f;
}

static struct s3_bucket *bucket_of(const struct place_folder *f)
{
	return bucket_place(f->place)->bucket;
}

static char *key_in(struct place_folder *f, const char *name)
{
	return xasprintf("%s%s", folder_of(f)->prefix, name);
}

static void fill_info(const struct s3_object *o, struct place_info *out)
{
	uint64_t id = *o->etag ? hash_fixed(str_from(o->etag)) >> 1 : 0; // the catalog keeps 63 bits
	*out = (struct place_info){.kind = PLACE_FILE, .version = {o->size, o->time * second_ns, id}};
}

// --- the place ---

bool place_s3_is(const char *address)
{
	return str_starts(str_from(address), STR(PLACE_S3_SCHEME));
}

const char *place_s3_bucket(const char *address)
{
	return address + strlen(PLACE_S3_SCHEME);
}

// The bucket; *prefix: what is behind it, without "/" at its ends.
static struct str split_address(const char *address, struct str *prefix)
{
	struct str rest = str_slice(str_from(address), strlen(PLACE_S3_SCHEME), strlen(address));
	struct str bucket = str_cut(&rest, '/');
	while (str_ends(rest, STR("/")))
		rest.len--;
	*prefix = rest;
	return bucket;
}

// As AWS names buckets, and Swift, whose names may have capital letters and "_".
int place_s3_check(const char *address, struct err *e)
{
	const size_t longest = 255;
	struct str prefix;
	struct str bucket = split_address(address, &prefix);
	bool is_good = bucket.len && bucket.len <= longest && prefix.len < LIMIT_S3_KEY / 2;
	for (size_t i = 0; i < bucket.len; i++)
		is_good &= ascii_is_alnum(bucket.ptr[i]) || (i && strchr("-._", bucket.ptr[i]));
	bool has_empty_part = str_starts(prefix, STR("/")) || strstr(place_s3_bucket(address), "//");
	return is_good && !has_empty_part ? 0 : err_set(e, ERR_USAGE, "%s: not s3://BUCKET or s3://BUCKET/PREFIX", address);
}

struct place *place_s3_new(const char *address)
{
	struct str prefix;
	struct str bucket = split_address(address, &prefix);
	struct s3_place *p = xcalloc(1, sizeof(*p));
	p->base = (struct place){&s3_ops, xasprintf(PLACE_S3_SCHEME STR_FMT "%s" STR_FMT, STR_ARG(bucket), prefix.len ? "/" : "",
					  STR_ARG(prefix))};
	p->bucket = s3_bucket_named(bucket);
	p->prefix = xasprintf(STR_FMT "%s", STR_ARG(prefix), prefix.len ? "/" : "");
	return &p->base;
}

enum s3_probe_result place_s3_probe(const char *address, bool is_full, s3_probe_fn *fn, void *ctx)
{
	struct place *p = place_s3_new(address);
	enum s3_probe_result result = s3_probe(bucket_place(p)->bucket, bucket_place(p)->prefix, is_full, fn, ctx);
	place_free(p);
	return result;
}

static void s3_free(struct place *p)
{
	free(((struct s3_place *)p)->prefix);
	free(p->path);
	free(p);
}

static bool s3_place_answers(const struct place *p, const char *below, int64_t until_ms, struct err *why)
{
	CLEANUP(mem_free) char *prefix = xasprintf("%s%s%s", bucket_place(p)->prefix, below ? below : "", below ? "/" : "");
	return s3_answers(bucket_place(p)->bucket, prefix, until_ms, why);
}

// --- folders ---

static struct place_folder *new_folder(const struct place *p, char *prefix)
{
	struct s3_folder *f = xcalloc(1, sizeof(*f));
	*f = (struct s3_folder){.base = {.place = p}, .prefix = prefix};
	return &f->base;
}

static struct place_folder *s3_open_folder(const struct place *p, const char *path, struct err *e UNUSED)
{
	return new_folder(p, xasprintf("%s%s%s", bucket_place(p)->prefix, path, *path ? "/" : ""));
}

static struct place_folder *s3_enter(struct place_folder *f, const char *name, struct err *e UNUSED)
{
	return new_folder(f->place, xasprintf("%s%s/", folder_of(f)->prefix, name));
}

static void forget_entries(struct s3_folder *f)
{
	while (f->count)
		free(f->entry[--f->count].name);
	f->is_listed = false;
}

static void s3_folder_close(struct place_folder *base)
{
	struct s3_folder *f = folder_of(base);
	forget_entries(f);
	free(f->entry);
	free(f->prefix);
	free(f);
}

static int stop_at_key(void *ctx UNUSED, const struct s3_listed *one UNUSED, struct err *e UNUSED)
{
	return 1;
}

static int s3_remove_folder(struct place_folder *f, const char *name, struct err *e)
{
	CLEANUP(mem_free) char *prefix = xasprintf("%s%s/", folder_of(f)->prefix, name);
	int found = s3_list(bucket_of(f), prefix, true, ONE_KEY, stop_at_key, NULL, e);
	return found > 0 ? err_set(e, ERR_IO, "%s: it is not empty", name) : found;
}

static int s3_folder_info(struct place_folder *f UNUSED, struct place_info *out, struct err *e UNUSED)
{
	*out = (struct place_info){.kind = PLACE_FOLDER};
	return 0;
}

static int add_entry(void *ctx, const struct s3_listed *one, struct err *e UNUSED)
{
	struct s3_folder *f = ctx;
	if (place_hides(one->name) || !*one->name || strchr(one->name, '/'))
		return 0;
	GROW(f->entry, f->count, f->room);
	struct s3_entry *new = &f->entry[f->count++];
	new->name = xstrdup(one->name);
	if (one->is_prefix)
		new->info = (struct place_info){.kind = PLACE_FOLDER};
	else
		fill_info(&one->object, &new->info);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct s3_entry *)a)->name, ((const struct s3_entry *)b)->name);
}

// fn may remove names, so all are listed first. Prefixes and objects of a page come apart.
static int s3_list_folder(struct place_folder *base, place_list_fn *fn, void *ctx, struct err *e)
{
	struct s3_folder *f = folder_of(base);
	forget_entries(f);
	if (s3_list(bucket_of(base), f->prefix, false, 0, add_entry, f, e) < 0)
		return -1;
	if (f->count)
		qsort(f->entry, f->count, sizeof(*f->entry), by_name);
	f->is_listed = true;
	int result = 0;
	for (size_t i = 0; i < f->count && result == 0; i++)
		result = fn(ctx, f->entry[i].name, f->entry[i].info.kind, e);
	return result;
}

// What the listing says; an object without ETag there may have one.
static const struct s3_entry *find_listed(struct s3_folder *f, const char *name)
{
	const struct s3_entry wanted = {.name = (char *)(uintptr_t)name};
	const struct s3_entry *found =
		f->is_listed && f->count ? bsearch(&wanted, f->entry, f->count, sizeof(*f->entry), by_name) : NULL;
	return found && (found->info.kind == PLACE_FOLDER || found->info.version.id) ? found : NULL;
}

static bool find_mark(uint64_t key, struct place_info *out, int *found)
{
	pthread_mutex_lock(&marks.lock);
	const struct mark_seen *m = &marks.slot[key % MARKS];
	bool is_known = m->key == key && clock_ms() < m->until_ms;
	if (is_known) {
		*out = m->info;
		*found = m->found;
	}
	pthread_mutex_unlock(&marks.lock);
	return is_known;
}

static void note_mark(uint64_t key, int found, const struct place_info *info)
{
	pthread_mutex_lock(&marks.lock);
	if (found >= 0)
		marks.slot[key % MARKS] = (struct mark_seen){key, found, *info, clock_ms() + MARK_MS};
	pthread_mutex_unlock(&marks.lock);
}

static int look_at(struct s3_bucket *b, const char *key, struct place_info *out, struct err *e)
{
	struct s3_object object;
	int found = s3_head(b, key, &object, NULL, e);
	if (found > 0)
		fill_info(&object, out);
	return found;
}

static int s3_stat(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	int found;
	bool is_mark = *name == '.';
	const struct s3_entry *listed = find_listed(folder_of(f), name);
	if (listed) {
		*out = listed->info;
		return 1;
	}
	CLEANUP(mem_free) char *key = key_in(f, name);
	uint64_t mark = hash_of(str_from(key), (uintptr_t)bucket_of(f));
	if (is_mark && find_mark(mark, out, &found))
		return found;
	*out = (struct place_info){0};
	found = look_at(bucket_of(f), key, out, e);
	if (is_mark)
		note_mark(mark, found, out);
	if (found || is_mark)
		return found;
	CLEANUP(mem_free) char *below = xasprintf("%s/", key);
	*out = (struct place_info){.kind = PLACE_FOLDER};
	return s3_list(bucket_of(f), below, true, ONE_KEY, stop_at_key, NULL, e);
}

// The ETag of the object that has the key, if that is the expected version; NULL expected: of any. 1, or 0: there is
// none.
static int check_expected(struct s3_bucket *b, const char *key, const struct place_version *expected, struct s3_object *now,
	struct err *e)
{
	struct place_info info;
	int found = s3_head(b, key, now, NULL, e);
	if (found < 0)
		return -1;
	if (found)
		fill_info(now, &info);
	return place_is_expected(found ? &info : NULL, expected) ? found : err_set(e, ERR_CONFLICT, "%s has changed", key);
}

// What is known of the folder is old. Who lists it just now goes on with what there was.
static void name_has_changed(struct s3_folder *f)
{
	f->is_listed = false;
	pthread_mutex_lock(&marks.lock);
	memset(marks.slot, 0, sizeof(marks.slot));
	pthread_mutex_unlock(&marks.lock);
}

static int s3_remove(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e)
{
	struct s3_object now;
	CLEANUP(mem_free) char *key = key_in(f, name);
	int found = check_expected(bucket_of(f), key, expected, &now, e);
	if (found <= 0)
		return found;
	name_has_changed(folder_of(f));
	return s3_delete(bucket_of(f), key, expected && *now.etag ? now.etag : NULL, e) < 0 ? -1 : 1;
}

static enum place_watched s3_watch(struct place_folder *f UNUSED, struct folder_watch *w UNUSED, const char *as UNUSED,
	const char **silent)
{
	*silent = "an object store";
	return PLACE_IS_SILENT;
}

// --- files ---

// Reads of one object, whose parts must be of the same one.
struct object_reading {
	struct s3_file *file;
	struct buf *bytes;   // either this
	struct spool *spool; // or that one gets them
	bool is_opening;
};

static int begin_object(void *ctx, const struct s3_object *object, struct err *e)
{
	struct object_reading *r = ctx;
	if (r->is_opening)
		r->file->object = *object;
	else if (!s3_object_is(&r->file->object, object))
		return err_set(e, ERR_BUSY, "%s: changed while it was read", r->file->key);
	if (r->bytes)
		buf_clear(r->bytes);
	if (r->bytes || !r->spool)
		return 0;
	spool_unref(r->spool); // of an earlier try
	r->spool = spool_new(e);
	return r->spool ? 0 : -1;
}

static int add_object_bytes(void *ctx, struct str bytes, struct err *e)
{
	struct object_reading *r = ctx;
	if (r->spool)
		return spool_add(r->spool, bytes, e);
	buf_str(r->bytes, bytes);
	return 0;
}

static int read_object_part(struct object_reading *r, uint64_t offset, uint64_t len, struct err *e)
{
	const struct s3_sink sink = {begin_object, add_object_bytes, r};
	int found = s3_read(r->file->bucket, r->file->key, offset, len, &sink, e);
	if (found == 0 && !r->is_opening)
		return err_set(e, ERR_BUSY, "%s: removed while it was read", r->file->key);
	return found;
}

static void s3_file_close(struct place_file *base)
{
	struct s3_file *f = file_of(base);
	spool_unref(f->spool);
	pthread_mutex_destroy(&f->lock);
	free(f->key);
	free(f->head);
	free(f->window);
	free(f);
}

static struct place_file *open_key(struct s3_bucket *b, char *key, struct err *e)
{
	struct s3_file *f = xcalloc(1, sizeof(*f));
	*f = (struct s3_file){.base = {&s3_ops}, .bucket = b, .key = key};
	pthread_mutex_init(&f->lock, NULL);
	CLEANUP(buf_release) struct buf head = buf_up_to(HEAD_BYTES);
	struct object_reading r = {.file = f, .bytes = &head, .is_opening = true};
	int found = read_object_part(&r, 0, HEAD_BYTES, e);
	f->head_len = head.len;
	f->head = buf_steal(&head);
	if (found > 0)
		return &f->base;
	if (found == 0)
		err_set(e, ERR_NOT_FOUND, "%s", key);
	s3_file_close(&f->base);
	return NULL;
}

static struct place_file *s3_open(const struct place *p, const char *path, struct err *e)
{
	return open_key(bucket_place(p)->bucket, xasprintf("%s%s", bucket_place(p)->prefix, path), e);
}

static struct place_file *s3_open_in(struct place_folder *f, const char *name, struct err *e)
{
	return open_key(bucket_of(f), key_in(f, name), e);
}

static int s3_file_info(struct place_file *f, struct place_info *out, struct err *e UNUSED)
{
	fill_info(&file_of(f)->object, out);
	return 0;
}

// Names the object's bytes among those that were spooled; an object without ETag is not known again.
static char *spool_name(const struct s3_file *f)
{
	return *f->object.etag ? xasprintf("%s/%s:%s:%lld:%llu", s3_bucket_title(f->bucket), f->key, f->object.etag,
					 (long long)f->object.time, (unsigned long long)f->object.size)
			       : NULL;
}

// Under the lock.
static int fill_spool(struct s3_file *f, struct err *e)
{
	CLEANUP(mem_free) char *name = spool_name(f);
	if (!f->spool && name)
		f->spool = spool_find(name);
	if (f->spool)
		return 0;
	struct object_reading r = {.file = f, .spool = spool_new(e)};
	if (!r.spool)
		return -1;
	int found = read_object_part(&r, 0, f->object.size, e);
	if (found > 0)
		f->spool = STEAL_PTR(r.spool);
	spool_unref(r.spool);
	if (f->spool && name)
		spool_keep(f->spool, name);
	return found > 0 ? 0 : -1;
}

static bool is_in_head(const struct s3_file *f, uint64_t end)
{
	return end <= f->head_len;
}

static void s3_file_read_ahead(struct place_file *base)
{
	struct err ignored = ERR_INIT; // then it is read by windows, or that fails too
	struct s3_file *f = file_of(base);
	pthread_mutex_lock(&f->lock);
	if (!is_in_head(f, f->object.size) && fill_spool(f, &ignored) < 0)
		spool_unref(STEAL_PTR(f->spool));
	pthread_mutex_unlock(&f->lock);
}

// Under the lock. Bytes that lie in one window.
static int read_window(struct s3_file *f, uint64_t offset, char *out, size_t len, struct err *e)
{
	uint64_t at = offset / WINDOW_BYTES * WINDOW_BYTES;
	if (!f->window || f->window_at != at || !f->window_len) {
		CLEANUP(buf_release) struct buf bytes = buf_up_to(WINDOW_BYTES);
		struct object_reading r = {.file = f, .bytes = &bytes};
		uint64_t left = f->object.size - at;
		if (read_object_part(&r, at, left < WINDOW_BYTES ? left : WINDOW_BYTES, e) < 0)
			return -1;
		free(f->window);
		f->window_len = bytes.len;
		f->window = buf_steal(&bytes);
		f->window_at = at;
	}
	if (offset - at + len > f->window_len)
		return err_set(e, ERR_IO, "%s: the bucket sends less than it has", f->key);
	memcpy(out, f->window + (offset - at), len);
	return 0;
}

static int read_windows(struct s3_file *f, uint64_t offset, char *out, size_t len, struct err *e)
{
	while (len) {
		size_t rest = (size_t)(WINDOW_BYTES - offset % WINDOW_BYTES), part = len < rest ? len : rest;
		if (read_window(f, offset, out, part, e) < 0)
			return -1;
		offset += part;
		out += part;
		len -= part;
	}
	return 0;
}

// Of bytes that the object has.
static int read_exactly(void *ctx, uint64_t offset, void *out, size_t len, struct err *e)
{
	struct s3_file *f = ctx;
	if (is_in_head(f, offset + len)) {
		memcpy(out, f->head + offset, len);
		return 0;
	}
	pthread_mutex_lock(&f->lock);
	int result;
	if (f->spool) {
		const struct byte_source bytes = byte_source_file(spool_fd(f->spool), f->object.size);
		result = byte_source_read(&bytes, offset, out, len, e);
	} else {
		result = read_windows(f, offset, out, len, e);
	}
	pthread_mutex_unlock(&f->lock);
	return result;
}

static struct byte_source s3_file_source(struct place_file *f, uint64_t size)
{
	uint64_t have = file_of(f)->object.size;
	return byte_source_function(read_exactly, file_of(f), size < have ? size : have);
}

static int s3_file_read_at(struct place_file *base, uint64_t offset, void *out, size_t len, size_t *got, struct err *e)
{
	const struct s3_file *f = file_of(base);
	uint64_t left = offset < f->object.size ? f->object.size - offset : 0;
	*got = left < len ? (size_t)left : len;
	return *got ? read_exactly(file_of(base), offset, out, *got, e) : 0;
}

static void end_spool(void *spool)
{
	spool_unref(spool);
}

static struct blob *s3_file_blob(struct place_file *base, uint64_t size, struct err *e)
{
	struct s3_file *f = file_of(base);
	if (size > f->object.size) {
		err_set(e, ERR_IO, "%s: it is shorter", f->key);
		return NULL;
	}
	if (is_in_head(f, size)) {
		struct buf copy = buf_up_to(HEAD_BYTES);
		buf_add(&copy, f->head, (size_t)size);
		return blob_from_buf(&copy);
	}
	pthread_mutex_lock(&f->lock);
	struct blob *b = fill_spool(f, e) < 0 ? NULL : blob_map(spool_fd(f->spool), (size_t)size, e);
	if (b)
		blob_at_end(b, end_spool, spool_ref(f->spool));
	pthread_mutex_unlock(&f->lock);
	if (!b && e->kind == ERR_LIMIT)
		e->kind = ERR_IO;
	return b;
}

// --- writing ---

static struct s3_write *write_of(struct place_write *w)
{
	return (struct s3_write *)w;
}

static void s3_write_free(struct place_write *base)
{
	struct s3_write *w = write_of(base);
	place_file_close(&w->file);
	spool_unref(w->spool);
	digest_free(w->digest);
	free(w->key);
	free(w);
}

static struct place_write *s3_write_begin(struct place_folder *f, const char *name, struct err *e)
{
	const struct s3_place *p = bucket_place(f->place);
	if (s3_probe_create(p->bucket, p->prefix, e) < 0)
		return NULL;
	struct s3_write *w = xcalloc(1, sizeof(*w));
	*w = (struct s3_write){.base = {&s3_ops}, .place = p, .folder = folder_of(f), .key = key_in(f, name)};
	w->digest = digest_new();
	digest_begin(w->digest);
	w->spool = strlen(w->key) <= LIMIT_S3_KEY ? spool_new(e) : NULL;
	if (strlen(w->key) > LIMIT_S3_KEY)
		err_set(e, ERR_LIMIT, "%s: a key of a bucket has at most %d bytes", name, LIMIT_S3_KEY);
	int fd = w->spool ? fcntl(spool_fd(w->spool), F_DUPFD_CLOEXEC, 0) : -1;
	if (w->spool && fd < 0)
		err_errno(e, ERR_IO, "%s", name);
	w->file = place_posix_file(fd);
	if (w->file)
		return &w->base;
	s3_write_free(&w->base);
	return NULL;
}

static int s3_write_add(struct place_write *base, struct str bytes, struct err *e)
{
	struct s3_write *w = write_of(base);
	digest_add(w->digest, bytes.ptr, bytes.len);
	w->size += bytes.len;
	return spool_add(w->spool, bytes, e);
}

static struct place_file *s3_write_file(struct place_write *w)
{
	return write_of(w)->file;
}

static int put(struct s3_write *w, bool is_new, const char *if_match, struct err *e)
{
	const struct byte_source body = byte_source_file(spool_fd(w->spool), w->size);
	if (w->digest)
		digest_end(w->digest, w->sha256);
	digest_free(STEAL_PTR(w->digest));
	const struct s3_put put = {.key = w->key,
		.body = &body,
		.size = w->size,
		.sha256 = w->sha256,
		.is_new = is_new,
		.if_match = if_match,
		.in_one = is_new && w->size > S3_PART_FROM && !s3_probe_complete(w->place->bucket, w->place->prefix)};
	name_has_changed(w->folder);
	return s3_put(w->place->bucket, &put, e);
}

static int s3_put_new(struct place_write *base, struct err *e)
{
	struct s3_write *w = write_of(base);
	if (put(w, true, NULL, e) == 0)
		return 0;
	return e->kind == ERR_CONFLICT ? err_set(e, ERR_CONFLICT, "%s: the name is taken", w->key) : -1;
}

static int s3_replace(struct place_write *base, const struct place_version *expected, struct err *e)
{
	struct s3_write *w = write_of(base);
	struct s3_object now = {0};
	int found = expected ? check_expected(w->place->bucket, w->key, expected, &now, e) : 0;
	if (found < 0)
		return -1;
	if (put(w, expected && !found, *now.etag ? now.etag : NULL, e) == 0)
		return 0;
	return e->kind == ERR_CONFLICT ? err_set(e, ERR_CONFLICT, "%s has changed", w->key) : -1;
}

static const struct place_ops s3_ops = {
	.free = s3_free,
	.answers = s3_place_answers,
	.open_folder = s3_open_folder,
	.enter = s3_enter,
	.remove_folder = s3_remove_folder,
	.folder_close = s3_folder_close,
	.folder_info = s3_folder_info,
	.list = s3_list_folder,
	.stat = s3_stat,
	.remove = s3_remove,
	.watch = s3_watch,
	.open = s3_open,
	.open_in = s3_open_in,
	.file_close = s3_file_close,
	.file_info = s3_file_info,
	.file_source = s3_file_source,
	.file_read_ahead = s3_file_read_ahead,
	.file_read_at = s3_file_read_at,
	.file_blob = s3_file_blob,
	.write_begin = s3_write_begin,
	.write_add = s3_write_add,
	.write_file = s3_write_file,
	.put_new = s3_put_new,
	.replace = s3_replace,
	.write_free = s3_write_free,
};

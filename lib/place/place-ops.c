// SPDX-License-Identifier: Apache-2.0
#include "lib/place/place-ops.h"

#include <stddef.h>

#include "lib/os/fs.h"

enum { BLOCK_SIZE = 16 << 10 };

// --- versions ---

enum place_match place_version_match(const struct place_version *a, const struct place_version *b)
{
	if (a->size != b->size || a->time_ns != b->time_ns)
		return PLACE_OTHER;
	return a->id == b->id ? PLACE_SAME : PLACE_ALIKE;
}

bool place_version_is_settled(const struct place_version *v, int64_t looked_at)
{
	return fs_mtime_is_reliable(v->time_ns, looked_at);
}

bool place_names_are_settled(const struct place_version *v, int64_t looked_at)
{
	const int64_t second_ns = 1000000000;
	return v->time_ns % second_ns != 0 && fs_mtime_is_reliable(v->time_ns, looked_at);
}

bool place_is_expected(const struct place_info *now, const struct place_version *expected)
{
	static const struct place_version nothing;
	if (!expected)
		return true;
	if (place_version_match(expected, &nothing) == PLACE_SAME)
		return !now;
	return now && now->kind == PLACE_FILE && place_version_match(&now->version, expected) == PLACE_SAME;
}

// --- places ---

void place_free(struct place *p)
{
	if (p)
		p->ops->free(p);
}

const char *place_path(const struct place *p)
{
	return p->path;
}

bool place_answers(const struct place *p, const char *below, int64_t until_ms, struct err *why)
{
	return p->ops->answers(p, below, until_ms, why);
}

int place_make(const struct place *p, struct err *e)
{
	return p->ops->make ? p->ops->make(p, e) : 0;
}

int place_room(const struct place *p, uint64_t *bytes, struct err *e)
{
	*bytes = UINT64_MAX;
	return p->ops->room ? p->ops->room(p, bytes, e) : 0;
}

int place_lock(const struct place *p, bool is_shared, unsigned wait_ms, struct place_lock **out, struct err *e)
{
	return p->ops->lock ? p->ops->lock(p, is_shared, wait_ms, out, e) : 0;
}

void place_unlock(struct place_lock **lock)
{
	if (*lock)
		(*lock)->ops->unlock(*lock);
	*lock = NULL;
}

// --- folders ---

struct place_folder *place_open_folder(const struct place *p, const char *path, struct err *e)
{
	return p->ops->open_folder(p, path, e);
}

struct place_folder *place_enter(struct place_folder *f, const char *name, struct err *e)
{
	return f->place->ops->enter(f, name, e);
}

int place_make_folder(struct place_folder *f, const char *name, struct err *e)
{
	return f->place->ops->make_folder ? f->place->ops->make_folder(f, name, e) : 0;
}

int place_remove_folder(struct place_folder *f, const char *name, struct err *e)
{
	return f->place->ops->remove_folder(f, name, e);
}

void place_folder_close(struct place_folder **f)
{
	struct place *owned = *f ? (*f)->owned : NULL;
	if (*f)
		(*f)->place->ops->folder_close(*f);
	*f = NULL;
	place_free(owned);
}

const struct place *place_of_folder(const struct place_folder *f)
{
	return f->place;
}

struct place_folder *place_end_with(struct place *p, struct place_folder *f)
{
	if (f)
		f->owned = p;
	else
		place_free(p);
	return f;
}

int place_folder_info(struct place_folder *f, struct place_info *out, struct err *e)
{
	return f->place->ops->folder_info(f, out, e);
}

int place_list(struct place_folder *f, place_list_fn *fn, void *ctx, struct err *e)
{
	return f->place->ops->list(f, fn, ctx, e);
}

static int stop_at_name(void *ctx UNUSED, const char *name UNUSED, enum place_kind kind, struct err *e UNUSED)
{
	return kind != PLACE_LEFTOVER;
}

bool place_hides(const char *name)
{
	return *name == '.' && strcmp(name, PLACE_STATUS) != 0;
}

int place_is_empty(struct place_folder *f, struct err *e)
{
	int found = place_list(f, stop_at_name, NULL, e);
	return found < 0 ? -1 : !found;
}

int place_stat(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	return f->place->ops->stat(f, name, out, e);
}

int place_follow(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	return f->place->ops->follow ? f->place->ops->follow(f, name, out, e) : err_set(e, ERR_NOT_FOUND, "%s", name);
}

void place_link_text(struct place_folder *f, const char *name, struct buf *out)
{
	if (f->place->ops->link_text)
		f->place->ops->link_text(f, name, out);
}

int place_remove(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e)
{
	return f->place->ops->remove(f, name, expected, e);
}

int place_sync(struct place_folder *f, struct err *e)
{
	return f->place->ops->sync ? f->place->ops->sync(f, e) : 0;
}

bool place_sweep(struct place_folder *f, const char *name)
{
	return f->place->ops->sweep && f->place->ops->sweep(f, name);
}

enum place_watched place_watch(struct place_folder *f, struct folder_watch *w, const char *as, const char **silent)
{
	return f->place->ops->watch(f, w, as, silent);
}

// --- files ---

struct place_file *place_open(const struct place *p, const char *path, struct err *e)
{
	return p->ops->open(p, path, e);
}

struct place_file *place_open_in(struct place_folder *f, const char *name, struct err *e)
{
	return f->place->ops->open_in(f, name, e);
}

void place_file_close(struct place_file **f)
{
	if (*f)
		(*f)->ops->file_close(*f);
	*f = NULL;
}

int place_file_info(struct place_file *f, struct place_info *out, struct err *e)
{
	return f->ops->file_info(f, out, e);
}

struct byte_source place_file_source(struct place_file *f, uint64_t size)
{
	return f->ops->file_source(f, size);
}

void place_file_read_ahead(struct place_file *f)
{
	if (f->ops->file_read_ahead)
		f->ops->file_read_ahead(f);
}

int place_file_read_at(struct place_file *f, uint64_t offset, void *out, size_t len, size_t *got, struct err *e)
{
	return f->ops->file_read_at(f, offset, out, len, got, e);
}

int place_file_read(struct place_file *f, size_t most, struct buf *out, struct err *e)
{
	char block[BLOCK_SIZE];
	for (size_t have = 0, got; have < most; have += got) {
		size_t len = most - have < sizeof(block) ? most - have : sizeof(block);
		if (place_file_read_at(f, have, block, len, &got, e) < 0)
			return -1;
		buf_add(out, block, got);
		if (got < len)
			break;
	}
	return 0;
}

struct blob *place_file_blob(struct place_file *f, uint64_t size, struct err *e)
{
	return f->ops->file_blob(f, size, e);
}

int place_file_sync(struct place_file *f, struct err *e)
{
	return f->ops->file_sync ? f->ops->file_sync(f, e) : 0;
}

// --- writing ---

struct place_write *place_write_begin(struct place_folder *f, const char *name, struct err *e)
{
	return f->place->ops->write_begin(f, name, e);
}

int place_write_add(struct place_write *w, struct str bytes, struct err *e)
{
	return w->ops->write_add(w, bytes, e);
}

int place_write_sync(struct place_write *w, struct err *e)
{
	return w->ops->write_sync ? w->ops->write_sync(w, e) : 0;
}

int place_write_time(struct place_write *w, int64_t time_ns, struct err *e)
{
	return w->ops->write_time ? w->ops->write_time(w, time_ns, e) : 0;
}

struct place_file *place_write_file(struct place_write *w)
{
	return w->ops->write_file(w);
}

int place_put_new(struct place_write *w, struct err *e)
{
	return w->ops->put_new(w, e);
}

int place_replace(struct place_write *w, const struct place_version *expected, struct err *e)
{
	return w->ops->replace(w, expected, e);
}

void place_write_abandon(struct place_write *w)
{
	if (w->ops->write_abandon)
		w->ops->write_abandon(w);
}

void place_write_free(struct place_write **w)
{
	if (*w)
		(*w)->ops->write_free(*w);
	*w = NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/place/record.h"

#include "lib/os/safefile.h"
#include "lib/place/place-posix.h"

static struct place_folder *enter_part(struct place_folder *f, const char *name, bool make, struct err *e)
{
	struct err missing = ERR_INIT;
	struct place_folder *inner = place_enter(f, name, &missing);
	if (!inner && make && missing.kind == ERR_NOT_FOUND)
		return place_make_folder(f, name, e) < 0 ? NULL : place_enter(f, name, e);
	if (!inner)
		*e = missing;
	return inner;
}

static struct place_folder *open_below(struct place *p, const char *folder, const char *below, bool make, struct err *e)
{
	struct str rest = str_from(below);
	struct place_folder *f = make && place_make(p, e) < 0 ? NULL : place_open_folder(p, "", e);
	while (f && rest.len) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		struct place_folder *inner = enter_part(f, name, make, e);
		place_folder_close(&f);
		f = inner;
	}
	if (!f)
		err_prefix(e, "%s/%s: ", folder, below);
	return place_end_with(p, f);
}

struct place_folder *record_folder(const char *folder, const char *below, bool make, struct err *e)
{
	return open_below(place_posix_new(folder, folder, PLACE_POSIX_OURS), folder, below, make, e);
}

struct place_folder *record_secret_folder(const char *folder, const char *below, bool make, struct err *e)
{
	if (make) { // with the folders above it
		CLEANUP(mem_close) int fd = safefile_folder(folder, true, e);
		if (fd < 0)
			return NULL;
	}
	return open_below(place_posix_new(folder, folder, PLACE_POSIX_SECRET), folder, below, make, e);
}

int record_read(struct place_folder *folder, const char *name, size_t most, struct buf *out, struct err *e)
{
	struct place_info info;
	size_t before = out->len;
	CLEANUP(place_file_close) struct place_file *file = place_open_in(folder, name, e);
	if (!file && e->kind == ERR_DENIED) // a link, or a socket
		e->kind = ERR_INVALID;
	if (!file || place_file_info(file, &info, e) < 0)
		return -1;
	if (info.kind != PLACE_FILE)
		return err_set(e, ERR_INVALID, "it is no regular file");
	if (info.version.size > most)
		return err_set(e, ERR_LIMIT, "it has more than %zu bytes", most);
	if (place_file_read(file, most + 1, out, e) < 0)
		return -1;
	return out->failed || out->len - before > most ? err_set(e, ERR_LIMIT, "it has more than %zu bytes", most) : 0;
}

struct names_walk {
	struct place_folder *folder;
	place_list_fn *fn;
	void *ctx;
};

static int sweep_or_tell(void *ctx, const char *name, enum place_kind kind, struct err *e)
{
	const struct names_walk *w = ctx;
	return kind == PLACE_LEFTOVER && place_sweep(w->folder, name) ? 0 : w->fn(w->ctx, name, kind, e);
}

int record_names(struct place_folder *folder, place_list_fn *fn, void *ctx, struct err *e)
{
	struct names_walk walk = {folder, fn, ctx};
	return place_list(folder, sweep_or_tell, &walk, e);
}

int record_replace(struct place_folder *folder, const char *name, struct str text, struct err *e)
{
	CLEANUP(place_write_free) struct place_write *w = place_write_begin(folder, name, e);
	if (!w || place_write_add(w, text, e) < 0 || place_replace(w, NULL, e) < 0)
		return -1;
	return place_sync(folder, e);
}

int record_create(struct place_folder *folder, const char *name, struct str text, struct err *e)
{
	CLEANUP(place_write_free) struct place_write *w = place_write_begin(folder, name, e);
	if (!w || place_write_add(w, text, e) < 0)
		return -1;
	if (place_put_new(w, e) < 0)
		return e->kind == ERR_CONFLICT
			       ? err_set(e, ERR_CONFLICT, "%s: another writer has taken the name", name)
			       : -1;
	return place_sync(folder, e);
}

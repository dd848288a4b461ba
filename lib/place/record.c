// SPDX-License-Identifier: Apache-2.0
#include "lib/place/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/log.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/place/place-address.h"

enum { CHANGE_TRIES = 50 };

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
	return open_below(place_at(folder, folder, PLACE_POSIX_OURS), folder, below, make, e);
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

// --- a file that several change ---

// An earlier file keeps its inode while it is open: no other one can have its version.
struct changing {
	const char *path;
	size_t most;
	struct place_folder *folder;
	char *name; // in it
	struct place_file *file; // as it was; NULL: there was none
	struct place_version version;
	struct buf text;
};

static void changing_release(struct changing *x)
{
	place_file_close(&x->file);
	place_folder_close(&x->folder);
	free(x->name);
	buf_release(&x->text);
}

static int read_before(struct changing *x, struct err *e)
{
	struct place_info info;
	struct err missing = ERR_INIT;
	buf_init(&x->text, x->most);
	x->file = place_posix_file(safefile_open(x->path, O_RDONLY, &missing));
	if (!x->file)
		return err_unless_missing(e, &missing);
	if (place_file_info(x->file, &info, e) < 0)
		return -1;
	x->version = info.version;
	if (info.version.size <= x->most && place_file_read(x->file, x->most, &x->text, e) < 0)
		return err_prefix(e, "%s: ", x->path);
	return info.version.size <= x->most ? 0 : err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", x->path, x->most);
}

static int ignore_name(void *ctx UNUSED, const char *name UNUSED, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	return 0;
}

// 1: done; 0: another one was faster.
static int try_change(const char *path, bool is_alone, size_t most, record_change_fn *fn, void *ctx, struct err *e)
{
	struct err unswept = ERR_INIT;
	struct place_info now;
	CLEANUP(changing_release) struct changing x = {.path = path, .most = most};
	int fd = read_before(&x, e) < 0 ? -1 : safefile_parent(path, true, &x.name, e);
	if (fd < 0)
		return -1;
	long slash = str_rfind(str_from(path), '/');
	CLEANUP(mem_free) char *shown = slash > 0 ? xstrndup(path, (size_t)slash) : xstrdup(slash == 0 ? "/" : ".");
	x.folder = place_posix_folder(fd, shown, is_alone ? PLACE_POSIX_ALONE : PLACE_POSIX_SECRET);
	CLEANUP(place_write_free) struct place_write *w = place_write_begin(x.folder, x.name, e);
	int is_changed = w ? fn(ctx, buf_view(&x.text), w, e) : -1;
	if (is_changed <= 0)
		return is_changed < 0 ? -1 : 1;
	if (place_file_info(place_write_file(w), &now, e) < 0)
		return -1;
	if (now.version.size > most)
		return err_set(e, ERR_LIMIT, "%s: it would be larger than %zu bytes", path, most);
	if (place_replace(w, &x.version, e) < 0)
		return e->kind == ERR_CONFLICT ? 0 : err_prefix(e, "%s: ", path);
	if (record_names(x.folder, ignore_name, NULL, &unswept) < 0)
		log_debug("%s: %s", path, unswept.msg);
	return place_sync(x.folder, e) < 0 ? -1 : 1;
}

int record_change(const char *path, bool is_alone, size_t most, record_change_fn *fn, void *ctx, struct err *e)
{
	for (int tries = 0; tries < CHANGE_TRIES; tries++) {
		struct err why = ERR_INIT;
		int done = try_change(path, is_alone, most, fn, ctx, &why);
		if (done < 0)
			*e = why;
		if (done)
			return done < 0 ? -1 : 0;
	}
	return err_set(e, ERR_BUSY, "%s: others change it all the time", path);
}

int record_version(const char *path, struct place_version *out, struct err *e)
{
	struct stat st;
	*out = (struct place_version){0};
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", path);
	int64_t changed = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec, written = fs_mtime_ns(&st);
	*out = (struct place_version){(uint64_t)st.st_size, written > changed ? written : changed, st.st_ino};
	return 0;
}

// --- the records of a folder ---

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

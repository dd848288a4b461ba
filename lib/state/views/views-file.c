// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-file.h"

#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/place/place-posix.h"

static struct place *open_place(const char *folder)
{
	return place_posix_new(folder, folder, PLACE_POSIX_OURS);
}

bool views_file_answers(const char *folder, unsigned ms)
{
	struct place *p = open_place(folder);
	bool answers = place_answers(p, NULL, clock_ms() + ms);
	place_free(p);
	return answers;
}

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

struct place_folder *views_file_folder(const char *folder, const char *below, bool make, struct err *e)
{
	struct str rest = str_from(below);
	struct place *p = open_place(folder);
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

int views_file_read(struct place_folder *folder, const char *name, size_t most, struct buf *out, struct err *e)
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

int views_file_names(struct place_folder *folder, place_list_fn *fn, void *ctx, struct err *e)
{
	struct names_walk walk = {folder, fn, ctx};
	return place_list(folder, sweep_or_tell, &walk, e);
}

int views_file_create(struct place_folder *folder, const char *name, struct str text, struct err *e)
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

// --- its freeze ---

// The folder as freeze.h expects it.
struct frozen_folder {
	char name[8];
	struct platform platform;
};

static void frozen_folder_release(struct frozen_folder *f)
{
	place_free(f->platform.place);
}

static void frozen_folder_init(struct frozen_folder *f, const char *folder)
{
	struct place *place = open_place(folder);
	*f = (struct frozen_folder){.name = "(views)"};
	f->platform = (struct platform){.name = f->name, .place = place, .written = place};
}

int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	return place_make(f.platform.place, e) < 0 ? -1 : freeze_set(&f.platform, who, reason, wait_ms, e);
}

int views_thaw(const char *folder, bool *was_frozen, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	*was_frozen = false;
	return access(folder, F_OK) < 0 ? 0 : freeze_clear(&f.platform, was_frozen, e);
}

int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	*hold = (struct freeze_hold){0};
	if (place_make(f.platform.place, e) < 0)
		return -1;
	int frozen = freeze_is(&f.platform, &why, e);
	if (frozen > 0)
		return err_set(e, ERR_BUSY, "the views of the store are frozen: %s", why.data);
	return frozen < 0 ? -1 : freeze_enter(&f.platform, false, hold, e);
}

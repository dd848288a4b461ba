// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/dir-snapshot.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/state/store/sidecar.h"

void dir_snapshot_release(struct dir_snapshot *d)
{
	for (size_t i = 0; i < d->folder_count; i++)
		folder_unref(d->folder[i].folder);
	free(d->folder);
	free(d->file);
	free(d->mark);
	free(d->attachment);
	if (d->names.data)
		buf_release(&d->names);
	*d = (struct dir_snapshot){0};
}

// The buffer of names moves while it grows: dir_snapshot_load sets the pointers when it is complete.
static int add_file_row(void *ctx, const struct catalog_known *row, struct err *e UNUSED)
{
	struct dir_snapshot *d = ctx;
	GROW(d->file, d->file_count, d->file_room);
	d->file[d->file_count++] = (struct dir_snapshot_file){.row = *row, .name = d->names.len};
	buf_add(&d->names, row->filename, strlen(row->filename) + 1);
	return 0;
}

static int add_mark_row(void *ctx, const struct catalog_known_mark *row, struct err *e UNUSED)
{
	struct dir_snapshot *d = ctx;
	GROW(d->mark, d->mark_count, d->mark_room);
	struct dir_snapshot_mark *mark = &d->mark[d->mark_count++];
	*mark = (struct dir_snapshot_mark){.row = *row, .name = d->names.len};
	buf_add(&d->names, row->filename, strlen(row->filename) + 1);
	mark->text = d->names.len;
	if (row->text)
		buf_add(&d->names, row->text, strlen(row->text) + 1);
	return 0;
}

static int add_attachment_row(void *ctx, const struct catalog_known_attachment *row, struct err *e UNUSED)
{
	struct dir_snapshot *d = ctx;
	GROW(d->attachment, d->attachment_count, d->attachment_room);
	d->attachment[d->attachment_count++] = (struct dir_snapshot_attachment){.row = *row, .name = d->names.len};
	buf_add(&d->names, row->filename, strlen(row->filename) + 1);
	buf_add(&d->names, row->sha256, SHA256_SIZE);
	return 0;
}

struct snapshot_load {
	struct dir_snapshot *snapshot;
	struct folder *parent;
};

static int add_folder_row(void *ctx, const struct catalog_folder *row, struct err *e UNUSED)
{
	struct snapshot_load *l = ctx;
	struct dir_snapshot *d = l->snapshot;
	const char *slash = strrchr(row->path, '/');
	struct folder *f = folder_new(l->parent, slash ? slash + 1 : row->path);
	f->known = *row;
	f->known.path = f->path;
	f->catalog_id = row->id;
	GROW(d->folder, d->folder_count, d->folder_room);
	d->folder[d->folder_count++] = (struct dir_snapshot_folder){.folder = f};
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct dir_snapshot_file *left = a, *right = b;
	return strcmp(left->row.filename, right->row.filename);
}

static int compare_marks(const void *a, const void *b)
{
	const struct dir_snapshot_mark *left = a, *right = b;
	int order = strcmp(left->row.filename, right->row.filename);
	return order ? order : (int)left->row.mark - (int)right->row.mark;
}

static int compare_attachments(const void *a, const void *b)
{
	const struct dir_snapshot_attachment *left = a, *right = b;
	int order = strcmp(left->row.filename, right->row.filename);
	return order ? order : (int)left->row.kind - (int)right->row.kind;
}

static int compare_folders(const void *a, const void *b)
{
	const struct dir_snapshot_folder *left = a, *right = b;
	return strcmp(left->folder->path, right->folder->path);
}

// To be called when the buffer of names is complete.
static void point_to_names(struct dir_snapshot *d)
{
	for (size_t i = 0; i < d->file_count; i++)
		d->file[i].row.filename = d->names.data + d->file[i].name;
	for (size_t i = 0; i < d->mark_count; i++) {
		struct dir_snapshot_mark *mark = &d->mark[i];
		mark->row.filename = d->names.data + mark->name;
		if (mark->row.text)
			mark->row.text = d->names.data + mark->text;
	}
	for (size_t i = 0; i < d->attachment_count; i++) {
		struct dir_snapshot_attachment *a = &d->attachment[i];
		a->row.filename = d->names.data + a->name;
		a->row.sha256 = (const uint8_t *)a->row.filename + strlen(a->row.filename) + 1;
	}
}

static void sort_rows(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

static void sort_snapshot(struct dir_snapshot *d)
{
	point_to_names(d);
	sort_rows(d->file, d->file_count, sizeof(*d->file), compare_files);
	sort_rows(d->mark, d->mark_count, sizeof(*d->mark), compare_marks);
	sort_rows(d->attachment, d->attachment_count, sizeof(*d->attachment), compare_attachments);
	sort_rows(d->folder, d->folder_count, sizeof(*d->folder), compare_folders);
}

int dir_snapshot_load(struct dir_snapshot *d, struct folder *f, struct catalog *c, struct err *e)
{
	struct snapshot_load l = {d, f};
	if (!f->known.id)
		return 0;
	buf_init(&d->names, SIZE_MAX / 2);
	if (catalog_folder_files(c, f->known.id, add_file_row, d, e) < 0 ||
		catalog_folder_marks(c, f->known.id, add_mark_row, d, e) < 0 ||
		catalog_folder_attachments(c, f->known.id, add_attachment_row, d, e) < 0 ||
		catalog_folder_children(c, f->known.id, add_folder_row, &l, e) < 0)
		return -1;
	sort_snapshot(d);
	return 0;
}

static int load_child(struct snapshot_load *l, const char *name, struct catalog *c, struct err *e)
{
	struct err why = ERR_INIT;
	struct catalog_folder row;
	CLEANUP(mem_free) char *path = folder_file(l->parent, name);
	if (catalog_folder_find(c, l->parent->platform->id, path, &row, &why) == 0)
		return add_folder_row(l, &row, e);
	return err_unless_missing(e, &why);
}

static int load_name(struct snapshot_load *l, const char *name, struct catalog *c, struct err *e)
{
	struct str of;
	enum mark mark;
	enum attachment kind;
	int64_t id = l->parent->known.id;
	bool is_mark = sidecar_is(str_from(name), &of, &mark);
	if (is_mark || attachment_is(str_from(name), &of, &kind)) {
		CLEANUP(mem_free)
		char *filename = is_mark ? sidecar_subject(of, mark, l->parent->path) : xstrndup(of.ptr, of.len);
		if (!filename)
			return 0;
		return is_mark ? catalog_folder_mark(c, id, filename, mark, add_mark_row, l->snapshot, e)
			       : catalog_folder_attachment(c, id, filename, kind, add_attachment_row, l->snapshot, e);
	}
	if (filename_kind(str_from(name)) != FILENAME_OTHER &&
		catalog_folder_file(c, id, name, add_file_row, l->snapshot, e) < 0)
		return -1;
	return load_child(l, name, c, e);
}

int dir_snapshot_load_names(struct dir_snapshot *d, struct folder *f, const struct strset *names, struct catalog *c,
	struct err *e)
{
	struct snapshot_load l = {d, f};
	if (!f->known.id)
		return 0;
	buf_init(&d->names, SIZE_MAX / 2);
	for (size_t i = 0; i < names->count; i++)
		if (load_name(&l, names->item[i], c, e) < 0)
			return -1;
	sort_snapshot(d);
	return 0;
}

struct dir_snapshot_file *dir_snapshot_file(struct dir_snapshot *d, const char *filename)
{
	struct dir_snapshot_file wanted = {.row = {.filename = filename}};
	return d->file_count ? bsearch(&wanted, d->file, d->file_count, sizeof(wanted), compare_files) : NULL;
}

struct dir_snapshot_mark *dir_snapshot_mark(struct dir_snapshot *d, const char *filename, enum mark mark)
{
	struct dir_snapshot_mark wanted = {.row = {.filename = filename, .mark = mark}};
	return d->mark_count ? bsearch(&wanted, d->mark, d->mark_count, sizeof(wanted), compare_marks) : NULL;
}

struct dir_snapshot_attachment *dir_snapshot_attachment(struct dir_snapshot *d, const char *filename,
	enum attachment kind)
{
	struct dir_snapshot_attachment wanted = {.row = {.filename = filename, .kind = kind}};
	return d->attachment_count
		       ? bsearch(&wanted, d->attachment, d->attachment_count, sizeof(wanted), compare_attachments)
		       : NULL;
}

struct dir_snapshot_folder *dir_snapshot_folder(struct dir_snapshot *d, const char *path)
{
	for (size_t low = 0, high = d->folder_count; low < high;) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, d->folder[middle].folder->path);
		if (order == 0)
			return &d->folder[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/dir-snapshot.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

void dir_snapshot_release(struct dir_snapshot *k)
{
	for (size_t i = 0; i < k->folder_count; i++)
		folder_unref(k->folder[i].folder);
	free(k->folder);
	free(k->file);
	free(k->mark);
	if (k->names.data)
		buf_release(&k->names);
	*k = (struct dir_snapshot){0};
}

// The names move while they are collected: dir_snapshot_load points to them when all are there.
static int add_file(void *ctx, const struct catalog_known *row, struct err *e UNUSED)
{
	struct dir_snapshot *k = ctx;
	GROW(k->file, k->file_count, k->file_room);
	k->file[k->file_count++] = (struct dir_snapshot_file){.row = *row, .name = k->names.len};
	buf_add(&k->names, row->filename, strlen(row->filename) + 1);
	return 0;
}

static int add_mark(void *ctx, const struct catalog_known_mark *row, struct err *e UNUSED)
{
	struct dir_snapshot *k = ctx;
	GROW(k->mark, k->mark_count, k->mark_room);
	struct dir_snapshot_mark *mark = &k->mark[k->mark_count++];
	*mark = (struct dir_snapshot_mark){.row = *row, .name = k->names.len};
	buf_add(&k->names, row->filename, strlen(row->filename) + 1);
	mark->text = k->names.len;
	if (row->text)
		buf_add(&k->names, row->text, strlen(row->text) + 1);
	return 0;
}

struct loading {
	struct dir_snapshot *known;
	struct folder *parent;
};

static int add_folder(void *ctx, const struct catalog_folder *row, struct err *e UNUSED)
{
	struct loading *l = ctx;
	struct dir_snapshot *k = l->known;
	const char *slash = strrchr(row->path, '/');
	struct folder *f = folder_new(l->parent, slash ? slash + 1 : row->path);
	f->known = *row;
	f->known.path = f->path;
	f->row = row->id;
	GROW(k->folder, k->folder_count, k->folder_room);
	k->folder[k->folder_count++] = (struct dir_snapshot_folder){.folder = f};
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

static int compare_folders(const void *a, const void *b)
{
	const struct dir_snapshot_folder *left = a, *right = b;
	return strcmp(left->folder->path, right->folder->path);
}

// All names are there, and stay where they are.
static void point_to_names(struct dir_snapshot *k)
{
	for (size_t i = 0; i < k->file_count; i++)
		k->file[i].row.filename = k->names.data + k->file[i].name;
	for (size_t i = 0; i < k->mark_count; i++) {
		struct dir_snapshot_mark *mark = &k->mark[i];
		mark->row.filename = k->names.data + mark->name;
		if (mark->row.text)
			mark->row.text = k->names.data + mark->text;
	}
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(items, count, size, compare);
}

int dir_snapshot_load(struct dir_snapshot *k, struct folder *f, struct catalog *c, struct err *e)
{
	struct loading l = {k, f};
	if (!f->known.id)
		return 0;
	buf_init(&k->names, SIZE_MAX / 2);
	if (catalog_folder_files(c, f->known.id, add_file, k, e) < 0 ||
		catalog_folder_marks(c, f->known.id, add_mark, k, e) < 0 ||
		catalog_folder_children(c, f->known.id, add_folder, &l, e) < 0)
		return -1;
	point_to_names(k);
	sort(k->file, k->file_count, sizeof(*k->file), compare_files);
	sort(k->mark, k->mark_count, sizeof(*k->mark), compare_marks);
	sort(k->folder, k->folder_count, sizeof(*k->folder), compare_folders);
	return 0;
}

struct dir_snapshot_file *dir_snapshot_file(struct dir_snapshot *k, const char *filename)
{
	struct dir_snapshot_file wanted = {.row = {.filename = filename}};
	return k->file_count ? bsearch(&wanted, k->file, k->file_count, sizeof(wanted), compare_files) : NULL;
}

struct dir_snapshot_mark *dir_snapshot_mark(struct dir_snapshot *k, const char *filename, enum mark mark)
{
	struct dir_snapshot_mark wanted = {.row = {.filename = filename, .mark = mark}};
	return k->mark_count ? bsearch(&wanted, k->mark, k->mark_count, sizeof(wanted), compare_marks) : NULL;
}

struct dir_snapshot_folder *dir_snapshot_folder(struct dir_snapshot *k, const char *path)
{
	for (size_t low = 0, high = k->folder_count; low < high;) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(path, k->folder[middle].folder->path);
		if (order == 0)
			return &k->folder[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

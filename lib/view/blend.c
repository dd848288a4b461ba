// SPDX-License-Identifier: Apache-2.0
#include "lib/view/blend.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/filename.h"

// One of upstream's files.
struct entry {
	const struct simplepage_file *file;
	struct filename name; // kind FILENAME_OTHER: not understood
};

struct blending {
	struct entry *entry; // by version, then file name
	size_t count, next;  // those before next have been given to the caller
	const char **name;   // all names, sorted
	blend_file_fn *fn;
	void *ctx;
};

static void blending_release(struct blending *b)
{
	for (size_t i = 0; i < b->count; i++)
		filename_release(&b->entry[i].name);
	free(b->entry);
	free(b->name);
}

static bool is_odd(const struct entry *x)
{
	return x->name.kind == FILENAME_OTHER;
}

static int by_version(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (is_odd(x) != is_odd(y))
		return is_odd(x) ? 1 : -1;
	int order = is_odd(x) ? 0 : version_cmp(&x->name.version, &y->name.version);
	return order ? order : strcmp(x->file->filename, y->file->filename);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void blending_fill(struct blending *b, const struct simplepage *page)
{
	b->entry = xcalloc(page->files, sizeof(*b->entry));
	b->name = xcalloc(page->files, sizeof(*b->name));
	for (b->count = 0; b->count < page->files; b->count++) {
		struct err ignored = ERR_INIT;
		struct entry *x = &b->entry[b->count];
		x->file = &page->file[b->count];
		b->name[b->count] = x->file->filename;
		if (filename_parse(str_from(x->file->filename), &x->name, &ignored) < 0)
			x->name = (struct filename){.kind = FILENAME_OTHER};
	}
	qsort(b->entry, b->count, sizeof(*b->entry), by_version);
	qsort(b->name, b->count, sizeof(*b->name), by_name);
}

// The first entry of this version or a later one.
static size_t first_of(const struct blending *b, struct str key)
{
	size_t low = 0, high = b->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *x = &b->entry[middle];
		if (!is_odd(x) && str_cmp(x->name.version.key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct blending *b, size_t i, struct str key)
{
	return i < b->count && !is_odd(&b->entry[i]) && str_eq(b->entry[i].name.version.key, key);
}

// A release counts as yanked where all of upstream's files of it are: the reason, else NULL.
static const char *release_yanked(const struct blending *b, struct str key)
{
	const char *reason = NULL;
	for (size_t i = first_of(b, key); is_of(b, i, key); i++) {
		if (!b->entry[i].file->yanked)
			return NULL;
		if (!reason || !*reason)
			reason = b->entry[i].file->yanked;
	}
	return reason;
}

static void give(struct blending *b, const struct entry *x)
{
	const struct simplepage_file *f = x->file;
	const struct listed listed = {
		.place = "upstream",
		.upstream = f,
		.file = {.filename = f->filename,
			.version = is_odd(x) ? NULL : x->name.version.text,
			.version_key = is_odd(x) ? (struct str){"", 0} : x->name.version.key,
			.sha256 = f->has_sha256 ? f->sha256 : NULL,
			.metadata_sha256 = f->has_metadata_sha256 ? f->metadata_sha256 : NULL,
			.requires_python = f->requires_python,
			.yanked = f->yanked},
	};
	b->fn(b->ctx, &listed);
}

// Ours come in the same order.
static void give_before(struct blending *b, const struct catalog_file *ours)
{
	for (; b->next < b->count; b->next++) {
		const struct entry *x = &b->entry[b->next];
		int order = is_odd(x) ? 1 : str_cmp(x->name.version.key, ours->version_key);
		if (order > 0 || (order == 0 && strcmp(x->file->filename, ours->filename) > 0))
			return;
		give(b, x);
	}
}

static int on_ours(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e UNUSED)
{
	struct blending *b = ctx;
	struct listed listed = {.place = platform->name, .file = *file};
	give_before(b, file);
	if (b->count && bsearch(&file->filename, b->name, b->count, sizeof(*b->name), by_name))
		return 0;
	if (!file->yanked)
		listed.file.yanked = release_yanked(b, file->version_key);
	b->fn(b->ctx, &listed);
	return 0;
}

static void give_versions(const struct blending *b, const struct simplepage *page, blend_version_fn *fn, void *ctx)
{
	for (size_t i = 0; i < page->versions; i++) {
		struct err ignored = ERR_INIT;
		CLEANUP(version_release) struct version v = {0};
		if (version_parse(str_from(page->version[i]), &v, &ignored) == 0 && !is_of(b, first_of(b, v.key), v.key))
			fn(ctx, page->version[i]);
	}
}

static bool is_quarantined(const struct upstream_answer *upstream)
{
	return upstream && upstream->standing == UPSTREAM_QUARANTINED;
}

// What is known is good until upstream says for certain that it is otherwise.
static const struct simplepage *page_of(const struct upstream_answer *upstream)
{
	return upstream && upstream->standing == UPSTREAM_KNOWN ? upstream->stale : NULL;
}

const char *blend_status(const struct upstream_answer *upstream)
{
	const struct simplepage *page = page_of(upstream);
	if (is_quarantined(upstream))
		return simplepage_status_name[SIMPLEPAGE_QUARANTINED];
	return page && page->status != SIMPLEPAGE_ACTIVE && page->status != SIMPLEPAGE_UNFAMILIAR
		? simplepage_status_name[page->status]
		: NULL;
}

const char *blend_status_reason(const struct upstream_answer *upstream)
{
	const struct simplepage *page = page_of(upstream);
	return page && blend_status(upstream) ? page->status_reason : NULL;
}

int blend_files(const struct view *v, struct catalog *c, const char *project, const struct upstream_answer *upstream,
	blend_file_fn *file, blend_version_fn *version, void *ctx, bool *is_known, struct err *e)
{
	CLEANUP(blending_release) struct blending b = {.fn = file, .ctx = ctx};
	const struct simplepage *page = page_of(upstream);
	*is_known = page || is_quarantined(upstream);
	if (is_quarantined(upstream))
		return 0;
	if (page)
		blending_fill(&b, page);
	if (view_files(v, c, project, on_ours, &b, e) < 0)
		return -1;
	for (; b.next < b.count; b.next++)
		give(&b, &b.entry[b.next]);
	if (page)
		give_versions(&b, page, version, ctx);
	return 0;
}

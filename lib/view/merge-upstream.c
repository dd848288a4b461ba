// SPDX-License-Identifier: Apache-2.0
#include "lib/view/merge-upstream.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"

// One of upstream's files.
struct plan_entry {
	const struct simplepage_file *file;
	struct filename name; // kind FILENAME_OTHER: not understood
};

struct blending {
	const struct simplepage *page; // NULL: none
	bool is_sorted;                // what follows is there, since there are files of ours
	struct plan_entry *entry;      // by version, then file name
	size_t count, next;            // those before next have been given to the caller
	const char **name;             // all names, sorted, once there is one of ours to look for; NULL: not yet
	struct strset ours;            // versions of ours
	const struct wheel_filter *fitting;
	merge_upstream_file_fn *file_fn;
	merge_upstream_version_fn *version_fn;
	void *ctx;
};

static void blending_release(struct blending *b)
{
	for (size_t i = 0; i < b->count; i++)
		filename_release(&b->entry[i].name);
	free(b->entry);
	free(b->name);
	strset_release(&b->ours);
}

static bool is_odd(const struct plan_entry *x)
{
	return x->name.kind == FILENAME_OTHER;
}

static int by_version(const void *a, const void *b)
{
	const struct plan_entry *x = a, *y = b;
	if (is_odd(x) != is_odd(y))
		return is_odd(x) ? 1 : -1;
	int order = is_odd(x) ? 0 : version_cmp(&x->name.version, &y->name.version);
	return order ? order : strcmp(x->file->filename, y->file->filename);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort(struct blending *b)
{
	const struct simplepage *page = b->page;
	if (b->is_sorted || !page)
		return;
	b->is_sorted = true;
	b->entry = xcalloc(page->files, sizeof(*b->entry));
	for (b->count = 0; b->count < page->files; b->count++) {
		struct err ignored = ERR_INIT;
		struct plan_entry *x = &b->entry[b->count];
		x->file = &page->file[b->count];
		if (filename_parse(str_from(x->file->filename), &x->name, &ignored) < 0)
			x->name = (struct filename){.kind = FILENAME_OTHER};
	}
	qsort(b->entry, b->count, sizeof(*b->entry), by_version);
}

static bool has_name(struct blending *b, const char *filename)
{
	if (!b->count)
		return false;
	if (!b->name) {
		b->name = xcalloc(b->count, sizeof(*b->name));
		for (size_t i = 0; i < b->count; i++)
			b->name[i] = b->entry[i].file->filename;
		qsort(b->name, b->count, sizeof(*b->name), by_name);
	}
	return bsearch(&filename, b->name, b->count, sizeof(*b->name), by_name) != NULL;
}

// The first entry of this version or a later one.
static size_t first_of(const struct blending *b, struct str key)
{
	size_t low = 0, high = b->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct plan_entry *x = &b->entry[middle];
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

static void give_file(struct blending *b, const struct simplepage_file *f, const struct version *version)
{
	const struct listed listed = {
		.place = "upstream",
		.upstream = f,
		.file = {.filename = f->filename,
			.version = version ? version->text : NULL,
			.version_key = version ? version->key : (struct str){"", 0},
			.sha256 = f->has_sha256 ? f->sha256 : NULL,
			.metadata_sha256 = f->has_metadata_sha256 ? f->metadata_sha256 : NULL,
			.requires_python = f->requires_python,
			.yanked = f->yanked},
	};
	b->file_fn(b->ctx, &listed);
}

// Of what does not fit the version alone, unless the name is ours too.
static void give(struct blending *b, const struct plan_entry *x, bool is_ours_too)
{
	const struct version *version = is_odd(x) ? NULL : &x->name.version;
	if (is_ours_too || wheel_filter_admits(b->fitting, x->file->filename))
		give_file(b, x->file, version);
	else if (version)
		b->version_fn(b->ctx, version);
}

// Ours come in the same order.
static void give_before(struct blending *b, const struct catalog_file *ours)
{
	for (; b->next < b->count; b->next++) {
		const struct plan_entry *x = &b->entry[b->next];
		int order = is_odd(x) ? 1 : str_cmp(x->name.version.key, ours->version_key);
		if (order == 0)
			order = strcmp(x->file->filename, ours->filename);
		if (order > 0)
			return;
		give(b, x, order == 0);
	}
}

// They come by version.
static void note_version(struct blending *b, const char *version)
{
	if (!b->ours.count || strcmp(b->ours.item[b->ours.count - 1], version) != 0)
		strset_add(&b->ours, version);
}

static int on_ours(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e UNUSED)
{
	struct blending *b = ctx;
	struct listed listed = {.place = platform->name, .file = *file};
	sort(b);
	note_version(b, file->version);
	give_before(b, file);
	if (has_name(b, file->filename))
		return 0;
	if (!file->yanked)
		listed.file.yanked = release_yanked(b, file->version_key);
	b->file_fn(b->ctx, &listed);
	return 0;
}

// A version's text, and where it stands among others.
static int by_text(const void *a, const void *b)
{
	const struct version *const *x = a, *const *y = b;
	int order = strcmp((*x)->text, (*y)->text);
	return order ? order : (*x > *y) - (*x < *y);
}

// Gives each text once, where it stands first, and releases them.
static void give_once(const struct blending *b, struct version *version, size_t count)
{
	CLEANUP(mem_free) const struct version **sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));
	CLEANUP(mem_free) bool *is_again = xcalloc(count + 1, sizeof(*is_again));
	for (size_t i = 0; i < count; i++)
		sorted[i] = &version[i];
	qsort(sorted, count, sizeof(*sorted), by_text);
	for (size_t i = 1; i < count; i++)
		is_again[sorted[i] - version] = strcmp(sorted[i]->text, sorted[i - 1]->text) == 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_again[i])
			b->version_fn(b->ctx, &version[i]);
		version_release(&version[i]);
	}
}

// Those of upstream that no file has.
static void give_versions(struct blending *b)
{
	strset_sort(&b->ours);
	CLEANUP(mem_free) struct version *version = xcalloc(b->page->versions + 1, sizeof(*version));
	size_t count = 0;
	for (size_t i = 0; i < b->page->versions; i++) {
		struct err ignored = ERR_INIT;
		struct version *v = &version[count];
		if (version_parse(str_from(b->page->version[i]), v, &ignored) < 0)
			continue;
		if (is_of(b, first_of(b, v->key), v->key) || strset_has(&b->ours, v->text))
			version_release(v);
		else
			count++;
	}
	give_once(b, version, count);
}

static void give_rest(struct blending *b)
{
	if (!b->page->versions)
		sort(b); // the versions are those of the files
	for (; b->is_sorted && b->next < b->count; b->next++)
		give(b, &b->entry[b->next], false);
	for (size_t i = 0; !b->is_sorted && i < b->page->files; i++)
		if (wheel_filter_admits(b->fitting, b->page->file[i].filename))
			give_file(b, &b->page->file[i], NULL);
	give_versions(b);
}

static bool is_quarantined(const struct upstream_answer *upstream)
{
	return upstream && upstream->last_definitive == UPSTREAM_QUARANTINED;
}

// What is known is good until upstream says for certain that it is otherwise.
static const struct simplepage *page_of(const struct upstream_answer *upstream)
{
	return upstream && upstream->last_definitive == UPSTREAM_KNOWN ? upstream->stale : NULL;
}

const char *merge_upstream_status(const struct upstream_answer *upstream)
{
	const struct simplepage *page = page_of(upstream);
	if (is_quarantined(upstream))
		return simplepage_status_name[SIMPLEPAGE_QUARANTINED];
	return page && page->status != SIMPLEPAGE_ACTIVE && page->status != SIMPLEPAGE_UNFAMILIAR
		       ? simplepage_status_name[page->status]
		       : NULL;
}

const char *merge_upstream_status_reason(const struct upstream_answer *upstream)
{
	const struct simplepage *page = page_of(upstream);
	return page && merge_upstream_status(upstream) ? page->status_reason : NULL;
}

int merge_upstream_files(const struct view *v, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, merge_upstream_file_fn *file, merge_upstream_version_fn *version,
	void *ctx, bool *is_known, struct err *e)
{
	CLEANUP(blending_release)
	struct blending b = {
		.fitting = &v->fitting, .file_fn = file, .version_fn = version, .ctx = ctx, .page = page_of(upstream)};
	*is_known = b.page || is_quarantined(upstream);
	if (is_quarantined(upstream))
		return 0;
	if (view_files(v, c, project, on_ours, &b, e) < 0)
		return -1;
	if (b.page)
		give_rest(&b);
	return 0;
}

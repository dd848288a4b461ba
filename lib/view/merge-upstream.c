// SPDX-License-Identifier: Apache-2.0
#include "lib/view/merge-upstream.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/state/upstream/rule-list.h"

// One of upstream's files.
struct upstream_entry {
	const struct simplepage_file *file;
	struct filename name; // kind FILENAME_OTHER: could not be parsed
	bool is_hidden;       // it is not offered: only that it is yanked counts
};

struct upstream_merge {
	const struct view *view;
	const char *project;
	const struct requirement *denied; // the first line that hides a file of ours; NULL: none
	const struct simplepage *page; // what is offered; NULL: none
	const struct upstream_answer *answer;
	bool is_sorted;                // entry is filled, because some files are ours
	struct upstream_entry *entry;  // sorted by version, then file name
	size_t count, next;            // the entries before next were passed to file_fn
	const char **name;             // of what is offered, sorted; made at the first look-up; NULL: not yet
	size_t names;
	struct strset ours;            // versions of our files
	const struct wheel_filter *filter;
	merge_upstream_file_fn *file_fn;
	merge_upstream_version_fn *version_fn;
	void *ctx;
};

static void upstream_merge_release(struct upstream_merge *b)
{
	for (size_t i = 0; i < b->count; i++)
		filename_release(&b->entry[i].name);
	free(b->entry);
	free(b->name);
	strset_release(&b->ours);
}

static bool has_no_version(const struct upstream_entry *x)
{
	return x->name.kind == FILENAME_OTHER;
}

static int compare_entries(const void *a, const void *b)
{
	const struct upstream_entry *x = a, *y = b;
	if (has_no_version(x) != has_no_version(y))
		return has_no_version(x) ? 1 : -1;
	int order = has_no_version(x) ? 0 : version_cmp(&x->name.version, &y->name.version);
	return order ? order : strcmp(x->file->filename, y->file->filename);
}

static void sort_entries(struct upstream_merge *b)
{
	const bool *hidden = b->page ? b->answer->hidden : NULL;
	const struct simplepage *page = hidden ? b->answer->listed : b->page;
	if (b->is_sorted || !page)
		return;
	b->is_sorted = true;
	b->entry = xcalloc(page->files, sizeof(*b->entry));
	for (b->count = 0; b->count < page->files; b->count++) {
		struct err ignored = ERR_INIT;
		struct upstream_entry *x = &b->entry[b->count];
		x->file = &page->file[b->count];
		x->is_hidden = hidden && hidden[b->count];
		if (filename_parse(str_from(x->file->filename), &x->name, &ignored) < 0)
			x->name = (struct filename){.kind = FILENAME_OTHER};
	}
	qsort(b->entry, b->count, sizeof(*b->entry), compare_entries);
}

static bool upstream_has_name(struct upstream_merge *b, const char *filename)
{
	if (!b->count)
		return false;
	if (!b->name) {
		b->name = xcalloc(b->count, sizeof(*b->name));
		for (size_t i = 0; i < b->count; i++)
			if (!b->entry[i].is_hidden)
				b->name[b->names++] = b->entry[i].file->filename;
		qsort(b->name, b->names, sizeof(*b->name), compare_strings);
	}
	return bsearch(&filename, b->name, b->names, sizeof(*b->name), compare_strings) != NULL;
}

static bool is_before_version(const void *entry, const void *key)
{
	const struct upstream_entry *x = entry;
	return !has_no_version(x) && str_cmp(x->name.version.key, *(const struct str *)key) < 0;
}

// The index of the first entry of this version or a later one.
static size_t first_of_version(const struct upstream_merge *b, struct str key)
{
	return lower_bound(&key, b->entry, b->count, sizeof(*b->entry), is_before_version);
}

static bool is_of_version(const struct upstream_merge *b, size_t i, struct str key)
{
	return i < b->count && !has_no_version(&b->entry[i]) && str_eq(b->entry[i].name.version.key, key);
}

// The reason if all of upstream's files of a release are yanked; else NULL.
static const char *release_yanked(const struct upstream_merge *b, struct str key)
{
	const char *reason = NULL;
	for (size_t i = first_of_version(b, key); is_of_version(b, i, key); i++) {
		if (!b->entry[i].file->yanked)
			return NULL;
		if (!reason || !*reason)
			reason = b->entry[i].file->yanked;
	}
	return reason;
}

static void emit_file(struct upstream_merge *b, const struct simplepage_file *f, const struct version *version)
{
	const struct page_file listed = {
		.place = "upstream",
		.upstream_name = upstream_home(b->answer, f).url_name,
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

// Passes an entry on that is offered. Of a wheel that the filter rejects it passes only the version, unless the name is
// here too.
static void emit_entry(struct upstream_merge *b, const struct upstream_entry *x, bool is_ours_too)
{
	const struct version *version = has_no_version(x) ? NULL : &x->name.version;
	if (x->is_hidden)
		return;
	if (is_ours_too || wheel_filter_admits(b->filter, x->file->filename))
		emit_file(b, x->file, version);
	else if (version)
		b->version_fn(b->ctx, version);
}

// Passes on the entries that come before our file. Our files have the same order.
static void emit_entries_before(struct upstream_merge *b, const struct catalog_file *ours)
{
	for (; b->next < b->count; b->next++) {
		const struct upstream_entry *x = &b->entry[b->next];
		int order = has_no_version(x) ? 1 : str_cmp(x->name.version.key, ours->version_key);
		if (order == 0)
			order = strcmp(x->file->filename, ours->filename);
		if (order > 0)
			return;
		emit_entry(b, x, order == 0);
	}
}

// Our files come ordered by version, so only the last one is compared.
static void note_our_version(struct upstream_merge *b, const char *version)
{
	if (!b->ours.count || strcmp(b->ours.item[b->ours.count - 1], version) != 0)
		strset_add(&b->ours, version);
}

static int on_our_file(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e UNUSED)
{
	struct upstream_merge *b = ctx;
	struct page_file listed = {.place = platform->name, .file = *file};
	const struct requirement *line = rule_list_find(b->view->denied, b->project, file->filename, platform->name);
	b->denied = b->denied ? b->denied : line;
	if (line)
		return 0;
	sort_entries(b);
	note_our_version(b, file->version);
	emit_entries_before(b, file);
	if (upstream_has_name(b, file->filename))
		return 0;
	if (!file->yanked)
		listed.file.yanked = release_yanked(b, file->version_key);
	b->file_fn(b->ctx, &listed);
	return 0;
}

// Orders by text, then by position.
static int compare_text_and_place(const void *a, const void *b)
{
	const struct version *const *x = a, *const *y = b;
	int order = strcmp((*x)->text, (*y)->text);
	return order ? order : (*x > *y) - (*x < *y);
}

// Passes each text on once, at its first position, and releases the versions.
static void emit_once(const struct upstream_merge *b, struct version *version, size_t count)
{
	CLEANUP(mem_free) const struct version **sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));
	CLEANUP(mem_free) bool *is_again = xcalloc(count + 1, sizeof(*is_again));
	for (size_t i = 0; i < count; i++)
		sorted[i] = &version[i];
	qsort(sorted, count, sizeof(*sorted), compare_text_and_place);
	for (size_t i = 1; i < count; i++)
		is_again[sorted[i] - version] = strcmp(sorted[i]->text, sorted[i - 1]->text) == 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_again[i])
			b->version_fn(b->ctx, &version[i]);
		version_release(&version[i]);
	}
}

static void emit_rest(struct upstream_merge *b)
{
	if (!b->page->versions)
		sort_entries(b); // the files supply the versions
	for (; b->is_sorted && b->next < b->count; b->next++)
		emit_entry(b, &b->entry[b->next], false);
	for (size_t i = 0; !b->is_sorted && i < b->page->files; i++)
		if (wheel_filter_admits(b->filter, b->page->file[i].filename))
			emit_file(b, &b->page->file[i], NULL);
	// Passes on upstream's versions that no file has.
	strset_sort(&b->ours);
	CLEANUP(mem_free) struct version *version = xcalloc(b->page->versions + 1, sizeof(*version));
	size_t count = 0;
	for (size_t i = 0; i < b->page->versions; i++) {
		struct err ignored = ERR_INIT;
		struct version *v = &version[count];
		if (version_parse(str_from(b->page->version[i]), v, &ignored) < 0)
			continue;
		if (is_of_version(b, first_of_version(b, v->key), v->key) || strset_has(&b->ours, v->text))
			version_release(v);
		else
			count++;
	}
	emit_once(b, version, count);
}

static bool is_quarantined(const struct upstream_answer *upstream)
{
	return upstream && upstream->last_definitive == UPSTREAM_QUARANTINED;
}

// A saved page is used until upstream gives another definitive result.
static const struct simplepage *usable_page(const struct upstream_answer *upstream)
{
	return upstream && upstream->last_definitive == UPSTREAM_KNOWN ? upstream->stale : NULL;
}

const char *merge_upstream_status(const struct upstream_answer *upstream)
{
	const struct simplepage *page = usable_page(upstream);
	if (is_quarantined(upstream))
		return simplepage_status_name[SIMPLEPAGE_QUARANTINED];
	return page && page->status != SIMPLEPAGE_ACTIVE && page->status != SIMPLEPAGE_UNFAMILIAR
		       ? simplepage_status_name[page->status]
		       : NULL;
}

const char *merge_upstream_status_reason(const struct upstream_answer *upstream)
{
	const struct simplepage *page = usable_page(upstream);
	return page && merge_upstream_status(upstream) ? page->status_reason : NULL;
}

int merge_upstream_is_kept_out(const struct view *v, struct catalog *c, const char *project, enum name_rule rule,
	bool *is_kept_out, struct err *e)
{
	const struct view *source = v->membership && rule == NAME_RULE_MERGE ? v->source : NULL;
	*is_kept_out = false;
	for (size_t i = 0; source && i < source->platform_count && !*is_kept_out; i++) {
		CLEANUP(mem_free) char *folder = NULL;
		const struct platform *p = source->platform[i];
		if (p->is_private && !view_has(v, p))
			continue;
		if (catalog_project_folder(c, p->id, project, &folder, e) < 0)
			return -1;
		*is_kept_out = folder != NULL;
	}
	return 0;
}

int merge_upstream_files(const struct view *v, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, merge_upstream_file_fn *file, merge_upstream_version_fn *version,
	void *ctx, bool *is_known, const struct requirement **denied, struct err *e)
{
	CLEANUP(upstream_merge_release)
	struct upstream_merge b = {.view = v,
		.project = project,
		.filter = &v->wheels,
		.file_fn = file,
		.version_fn = version,
		.ctx = ctx,
		.page = usable_page(upstream),
		.answer = upstream};
	*denied = NULL;
	*is_known = b.page || is_quarantined(upstream);
	if (is_quarantined(upstream))
		return 0;
	if (view_files(v, c, project, on_our_file, &b, e) < 0)
		return -1;
	*denied = b.denied;
	if (b.page)
		emit_rest(&b);
	return 0;
}

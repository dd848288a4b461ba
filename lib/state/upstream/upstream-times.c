// SPDX-License-Identifier: Apache-2.0
// The times of files that are believed: the first upload time that was told, else when a file was first seen.
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/state/upstream/first-seen.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/right-clock.h"
#include "lib/state/upstream/upstream-row.h"

static int compare_page_files(const void *a, const void *b)
{
	const struct simplepage_file *const *x = a, *const *y = b;
	return strcmp((*x)->filename, (*y)->filename);
}

static bool has_same_bytes(const struct simplepage_file *a, const struct simplepage_file *b)
{
	return a->has_sha256 && b->has_sha256 && memcmp(a->sha256, b->sha256, SHA256_SIZE) == 0;
}

static void log_other_times(const struct upstream_row *row, const char *filename, size_t count)
{
	log_warn("%s: of %s of %s the upload time has changed since it was first told, for example of %s: "
		 "the first one counts",
		row->index->shown, COUNTED(count, "file|files"), row->project->name, filename);
}

static void log_future(const struct upstream_row *row, const struct simplepage *page, int64_t now)
{
	for (size_t i = 0; i < page->files; i++)
		if (page->file[i].uploaded > now + 60) { // clocks differ by seconds
			log_warn("%s: %s has an upload time that is yet to come: %s", row->index->shown,
				page->file[i].filename, page->file[i].upload_time);
			return;
		}
}

// stays: of the row's files, those that the page has too; is_old: the same of the page's files.
static void keep_times_of_page(const struct upstream_row *row, struct simplepage *page, bool *stays, bool *is_old,
	const char **changed, size_t *count)
{
	CLEANUP(mem_free)
	const struct simplepage_file **sorted = xreallocarray(NULL, row->page.files, sizeof(struct simplepage_file *));
	for (size_t i = 0; i < row->page.files; i++)
		sorted[i] = &row->page.file[i];
	qsort(sorted, row->page.files, sizeof(*sorted), compare_page_files);
	for (size_t i = 0; i < page->files; i++) {
		struct simplepage_file *f = &page->file[i];
		const struct simplepage_file *key = f,
					     **found = bsearch(&key, sorted, row->page.files, sizeof(*sorted), compare_page_files);
		if (!found || !has_same_bytes(*found, f))
			continue;
		stays[*found - row->page.file] = is_old[i] = true;
		if ((*found)->uploaded < OFFERING_OLDEST || (*found)->uploaded == f->uploaded)
			continue;
		if (f->uploaded && !(*count)++)
			*changed = f->filename;
		f->uploaded = (*found)->uploaded;
		f->upload_time = arena_strdup(&page->text, (*found)->upload_time);
	}
}

void upstream_row_keep_times(const struct upstream_row *row, struct simplepage *page)
{
	const char *changed = NULL;
	size_t count = 0, had = row->has_page ? row->page.files : 0;
	struct err e = ERR_INIT;
	struct upstreams *u = row->project->upstreams;
	const char *name = row->index->upstream->name;
	int64_t since = upstream_rules_young_since(u);
	CLEANUP(mem_free) bool *stays = xcalloc(had + 1, sizeof(*stays));
	CLEANUP(mem_free) bool *is_old = xcalloc(page->files + 1, sizeof(*is_old));
	log_future(row, page, row->asked);
	if (had)
		keep_times_of_page(row, page, stays, is_old, &changed, &count);
	if (since < INT64_MAX && had && first_seen_keep(u->offers, name, &row->page, stays, since, &e) < 0)
		log_warn("%s", e.msg);
	if (since < INT64_MAX && first_seen_recall(u->offers, name, page, is_old, &changed, &count, &e) < 0)
		log_warn("%s", e.msg);
	if (changed)
		log_other_times(row, changed, count);
}

void upstream_row_note_seen(struct upstream_row *row)
{
	struct err e = ERR_INIT;
	struct upstreams *u = row->project->upstreams;
	if (!row->has_page || !atomic_load(&u->has_offers))
		return;
	// The wall clock may be behind the time of offering, by which the files age.
	int64_t now = row->has_new_page ? right_clock_now(u->clock) : 0, at = row->has_new_page ? row->asked : row->fetched;
	if (first_seen_fill(u->offers, row->index->upstream->name, &row->page, at < now ? now : at, &e) < 0)
		(row->is_dirty ? log_warn : log_debug)("%s", e.msg);
}

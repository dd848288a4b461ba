// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/scan-writer.h"

#include <stdlib.h>
#include <string.h>

#include "indexer/walk/scan-file.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"

enum { BATCH = 2000 };
#define BATCH_NS ((int64_t)1000000000)

// A row that is to be removed.
struct removal {
	int64_t id, written;
	size_t platform_index;
	unsigned depth; // of a folder
};

struct removals {
	struct removal *item;
	size_t count, room;
};

// A mark that is to be removed.
struct gone_mark {
	struct folder *folder; // a reference
	char *filename;
	enum mark mark;
	int64_t written;
};

struct scan_writer {
	struct catalog *catalog;
	const struct store *store;
	struct summary *summary;
	struct catalog_transaction open;
	unsigned batch;   // rows in the open transaction; 0: none is open
	int64_t begun_ns; // when it was opened
	struct removals files, folders;
	struct gone_mark *mark;
	size_t mark_count, mark_room;
	bool has_missed; // a whole platform
	bool *missed;    // a platform: it could not be read
	bool *kept;      // a platform: what has gone stays
	uint64_t *gone;  // a platform
};

struct scan_writer *scan_writer_new(struct catalog *c, const struct store *store, struct summary *summary)
{
	struct scan_writer *r = xcalloc(1, sizeof(*r));
	r->catalog = c;
	r->store = store;
	r->summary = summary;
	r->missed = xcalloc(store->platform_count, sizeof(*r->missed));
	r->kept = xcalloc(store->platform_count, sizeof(*r->kept));
	r->gone = xcalloc(store->platform_count, sizeof(*r->gone));
	return r;
}

void scan_writer_free(struct scan_writer *r)
{
	if (!r)
		return;
	catalog_rollback(&r->open);
	for (size_t i = 0; i < r->mark_count; i++) {
		folder_unref(r->mark[i].folder);
		free(r->mark[i].filename);
	}
	free(r->mark);
	free(r->files.item);
	free(r->folders.item);
	free(r->missed);
	free(r->kept);
	free(r->gone);
	free(r);
}

static int commit(struct scan_writer *r, struct err *e)
{
	if (!r->batch)
		return 0;
	if (catalog_commit(&r->open, e) < 0)
		return -1;
	r->batch = 0;
	return 0;
}

int scan_writer_tick(struct scan_writer *r, struct err *e)
{
	return r->batch && clock_wall_ns() - r->begun_ns >= BATCH_NS ? commit(r, e) : 0;
}

// Before each row that is written.
static int next_row(struct scan_writer *r, struct err *e)
{
	if (r->batch >= BATCH && commit(r, e) < 0)
		return -1;
	if (!r->batch) {
		if (catalog_begin(r->catalog, &r->open, e) < 0)
			return -1;
		r->begun_ns = clock_wall_ns();
	}
	r->batch++;
	return 0;
}

// An upload may have made it meanwhile.
static int ensure_folder(struct scan_writer *r, struct folder *f, struct err *e)
{
	if (f->row)
		return 0;
	return catalog_folder_ensure(r->catalog, f->platform->id, f->path, &f->row, e);
}

static void alarm(struct scan_writer *r, const struct platform *p, const char *path,
	const struct catalog_effect *effect)
{
	char before[SHA256_HEX + 1] = "", after[SHA256_HEX + 1] = "";
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", p->name, path);
	r->summary->number[SCAN_REPORT_CHANGED]++;
	if (p->is_mutable)
		return;
	hex_encode(effect->before, SHA256_SIZE, before);
	hex_encode(effect->after, SHA256_SIZE, after);
	summary_add_private(r->summary, SCAN_REPORT_LIST_CHANGED, p->is_private, whole, before, after);
}

// What became of the name. True where its bytes are as they were.
static bool judge(struct scan_writer *r, const struct platform *p, const char *path,
	const struct catalog_effect *effect)
{
	if (effect->is_listed && !effect->was_listed)
		r->summary->number[SCAN_REPORT_ADDED]++;
	if (!effect->is_listed || !effect->was_listed)
		return false;
	if (memcmp(effect->before, effect->after, SHA256_SIZE) == 0)
		return true;
	alarm(r, p, path, effect);
	return false;
}

static struct catalog_entry entry_of(const struct scan_event *o)
{
	const struct folder *f = o->folder;
	struct catalog_entry entry = ingest_entry(o->facts);
	entry.is_guarded = true;
	entry.id = o->id;
	entry.written = o->written;
	entry.platform = f->platform->id;
	entry.folder = f->row;
	entry.folder_path = f->path;
	entry.trusted = o->trusted;
	return entry;
}

// The lines of a file's oddities as one.
static void tell_findings(struct scan_writer *r, const struct scan_event *o, const char *path)
{
	const struct findings *f = &o->facts->wheel.findings;
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", o->folder->platform->name, path);
	CLEANUP(mem_free) char *lines = xstrndup(f->text.data, str_trim(buf_view(&f->text)).len);
	for (char *at = lines; (at = strchr(at, '\n')) != NULL;)
		*at = ';';
	r->summary->number[SCAN_REPORT_FINDINGS] += f->count;
	summary_add(r->summary, SCAN_REPORT_LIST_FINDINGS, whole, lines, NULL);
}

static int put_file(struct scan_writer *r, const struct scan_event *o, struct err *e)
{
	struct catalog_effect effect;
	if (next_row(r, e) < 0 || ensure_folder(r, o->folder, e) < 0)
		return -1;
	struct catalog_entry entry = entry_of(o);
	CLEANUP(mem_free) char *path = folder_file(o->folder, entry.filename);
	if (catalog_file_put(r->catalog, &entry, &effect, e) < 0)
		return err_prefix(e, "%s/%s: ", o->folder->platform->name, path);
	if (effect.was_left)
		return 0;
	if (judge(r, o->folder->platform, path, &effect) && o->id && !entry.refusal)
		r->summary->number[SCAN_REPORT_UNCHANGED]++;
	if (!entry.refusal && entry.findings)
		tell_findings(r, o, path);
	return 0;
}

// What a mark did to its file; *m gets the folder's row.
static int put_mark(struct scan_writer *r, struct folder *f, struct catalog_mark *m, struct err *e)
{
	struct catalog_effect effect;
	if (next_row(r, e) < 0 || ensure_folder(r, f, e) < 0)
		return -1;
	m->is_guarded = true;
	m->platform = f->platform->id;
	m->folder = f->row;
	m->folder_path = f->path;
	if (catalog_mark_put(r->catalog, m, &effect, e) < 0)
		return err_prefix(e, "%s/%s/%s%s: ", f->platform->name, f->path, m->filename, sidecar_ending[m->mark]);
	if (effect.was_listed && !effect.is_listed)
		r->summary->number[SCAN_REPORT_GONE]++;
	judge(r, f->platform, m->filename, &effect);
	return 0;
}

static int see_mark(struct scan_writer *r, const struct scan_event *o, struct err *e)
{
	struct catalog_mark m = {.written = o->written, .filename = o->filename, .mark = o->mark, .text = o->text};
	if (o->text)
		return put_mark(r, o->folder, &m, e);
	GROW(r->mark, r->mark_count, r->mark_room);
	r->mark[r->mark_count++] = (struct gone_mark){folder_ref(o->folder), xstrdup(o->filename), o->mark, o->written};
	return 0;
}

static int remove_mark(struct scan_writer *r, const struct gone_mark *g, struct err *e)
{
	struct catalog_mark m = {.written = g->written, .filename = g->filename, .mark = g->mark};
	return put_mark(r, g->folder, &m, e);
}

static int put_new_folder(struct scan_writer *r, const struct scan_event *o, struct err *e)
{
	return next_row(r, e) < 0 ? -1 : ensure_folder(r, o->folder, e);
}

static int put_folder(struct scan_writer *r, const struct scan_event *o, struct err *e)
{
	struct folder *f = o->folder;
	struct catalog_folder row = {
		.mtime_ns = f->mtime_ns, .ignored = f->ignored, .trusted = f->is_settled && !atomic_load(&f->restless)};
	const struct catalog_folder *known = &f->known;
	if (known->id && known->mtime_ns == row.mtime_ns && known->ignored == row.ignored &&
		known->trusted == row.trusted)
		return 0; // a scan that finds nothing new writes nothing
	if (next_row(r, e) < 0 || ensure_folder(r, f, e) < 0)
		return -1;
	row.id = f->row;
	return catalog_folder_set(r->catalog, &row, e);
}

static void add_removal(struct removals *list, int64_t id, int64_t written, const struct folder *f)
{
	GROW(list->item, list->count, list->room);
	list->item[list->count++] = (struct removal){id, written, f->platform_index, f->depth};
}

static void miss_platform(struct scan_writer *r, size_t index)
{
	scan_writer_miss(r);
	r->missed[index] = true;
}

int scan_writer_outcome(struct scan_writer *r, const struct scan_event *o, struct err *e)
{
	bool is_whole; // what could not be looked at is the platform
	switch (o->kind) {
	case SCAN_EVENT_FILE:
		return put_file(r, o, e);
	case SCAN_EVENT_MARK:
		return see_mark(r, o, e);
	case SCAN_EVENT_FOLDER_NEW:
		return put_new_folder(r, o, e);
	case SCAN_EVENT_FOLDER:
		return put_folder(r, o, e);
	case SCAN_EVENT_FILE_GONE:
		r->gone[o->folder->platform_index]++;
		add_removal(&r->files, o->id, o->written, o->folder);
		return 0;
	case SCAN_EVENT_FOLDER_GONE:
		if (o->folder->row)
			add_removal(&r->folders, o->folder->row, 0, o->folder);
		return 0;
	case SCAN_EVENT_PROBLEM:
		is_whole = o->is_blind && !o->folder->parent;
		if (is_whole)
			miss_platform(r, o->folder->platform_index);
		summary_add_private(r->summary, SCAN_REPORT_LIST_PROBLEMS, !is_whole && o->folder->platform->is_private,
			o->text, NULL, NULL);
		return 0;
	case SCAN_EVENT_WAITING:
		summary_add(r->summary, SCAN_REPORT_LIST_WAITING, o->text, NULL, NULL);
		return 0;
	}
	return 0;
}

uint64_t scan_writer_gone(const struct scan_writer *r, size_t platform_index)
{
	return r->gone[platform_index];
}

void scan_writer_miss(struct scan_writer *r)
{
	r->has_missed = true;
}

void scan_writer_keep(struct scan_writer *r, size_t platform_index)
{
	miss_platform(r, platform_index);
	r->kept[platform_index] = true;
}

static int remove_file(struct scan_writer *r, const struct removal *g, struct err *e)
{
	struct catalog_effect effect;
	char name[LIMIT_FILE_NAME + 1];
	if (next_row(r, e) < 0 || catalog_file_remove(r->catalog, g->id, g->written, name, &effect, e) < 0)
		return -1;
	if (effect.was_listed && !effect.is_listed)
		r->summary->number[SCAN_REPORT_GONE]++;
	judge(r, &r->store->platform[g->platform_index], name, &effect);
	return 0;
}

static int deepest_first(const void *a, const void *b)
{
	const struct removal *x = a, *y = b;
	return (x->depth < y->depth) - (x->depth > y->depth);
}

// Files first, then the marks that were beside them, then the folders that have nothing in them any
// more: what others wrote since the scan looked stays.
static int remove_gone(struct scan_writer *r, struct err *e)
{
	if (r->folders.count)
		qsort(r->folders.item, r->folders.count, sizeof(*r->folders.item), deepest_first);
	for (size_t i = 0; i < r->files.count; i++)
		if (!r->kept[r->files.item[i].platform_index] && remove_file(r, &r->files.item[i], e) < 0)
			return -1;
	for (size_t i = 0; i < r->mark_count; i++)
		if (!r->kept[r->mark[i].folder->platform_index] && remove_mark(r, &r->mark[i], e) < 0)
			return -1;
	for (size_t i = 0; i < r->folders.count; i++)
		if (!r->kept[r->folders.item[i].platform_index] &&
			(next_row(r, e) < 0 || catalog_folder_remove(r->catalog, r->folders.item[i].id, e) < 0))
			return -1;
	return 0;
}

static int note_platforms(struct scan_writer *r, struct err *e)
{
	for (size_t i = 0; i < r->store->platform_count; i++) {
		const struct platform *p = &r->store->platform[i];
		enum catalog_scanned now = r->missed[i] ? CATALOG_UNREADABLE : CATALOG_SCANNED;
		if (p->scanned != CATALOG_SCANNED && p->scanned != now &&
			(next_row(r, e) < 0 || catalog_platform_set_scanned(r->catalog, p->id, now, e) < 0))
			return -1;
	}
	return 0;
}

static int note_scan(struct scan_writer *r, struct err *e)
{
	bool scanned;
	if (catalog_was_scanned(r->catalog, &scanned, e) < 0)
		return -1;
	if (scanned)
		return 0;
	return next_row(r, e) < 0 ? -1 : catalog_set_scanned(r->catalog, e);
}

int scan_writer_finish(struct scan_writer *r, const int64_t *dropped, size_t dropped_count, struct err *e)
{
	if (remove_gone(r, e) < 0)
		return -1;
	for (size_t i = 0; i < dropped_count; i++)
		if (next_row(r, e) < 0 || catalog_platform_clear(r->catalog, dropped[i], e) < 0)
			return -1;
	if (note_platforms(r, e) < 0 || (!r->has_missed && note_scan(r, e) < 0))
		return -1;
	return commit(r, e);
}

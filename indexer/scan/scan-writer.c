// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/scan-writer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"

enum { BATCH = 2000 };
#define BATCH_NS ((int64_t)1000000000)

// A file or folder whose row is to be removed.
struct row_removal {
	int64_t id, written;
	size_t platform_index;
	unsigned depth; // of a folder
};

struct removals {
	struct row_removal *item;
	size_t count, room;
};

// A mark whose row is to be removed.
struct mark_removal {
	struct folder *folder; // a reference
	char *filename;
	enum mark mark;
	int64_t written;
};

// An attachment whose row is to be removed.
struct attachment_removal {
	struct folder *folder; // a reference
	char *filename;
	enum attachment kind;
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
	struct mark_removal *mark;
	size_t mark_count, mark_room;
	struct attachment_removal *attachment;
	size_t attachment_count, attachment_room;
	bool is_partial;  // a whole platform could not be read
	bool *unreadable; // per platform
	bool *kept;       // per platform: its removals are dropped
	uint64_t *gone;   // per platform: known files that are gone
};

struct scan_writer *scan_writer_new(struct catalog *c, const struct store *store, struct summary *summary)
{
	struct scan_writer *w = xcalloc(1, sizeof(*w));
	w->catalog = c;
	w->store = store;
	w->summary = summary;
	w->unreadable = xcalloc(store->platform_count, sizeof(*w->unreadable));
	w->kept = xcalloc(store->platform_count, sizeof(*w->kept));
	w->gone = xcalloc(store->platform_count, sizeof(*w->gone));
	return w;
}

void scan_writer_free(struct scan_writer *w)
{
	if (!w)
		return;
	catalog_rollback(&w->open);
	for (size_t i = 0; i < w->mark_count; i++) {
		folder_unref(w->mark[i].folder);
		free(w->mark[i].filename);
	}
	free(w->mark);
	for (size_t i = 0; i < w->attachment_count; i++) {
		folder_unref(w->attachment[i].folder);
		free(w->attachment[i].filename);
	}
	free(w->attachment);
	free(w->files.item);
	free(w->folders.item);
	free(w->unreadable);
	free(w->kept);
	free(w->gone);
	free(w);
}

static int commit_batch(struct scan_writer *w, struct err *e)
{
	if (!w->batch)
		return 0;
	if (catalog_commit(&w->open, e) < 0)
		return -1;
	w->batch = 0;
	return 0;
}

int scan_writer_tick(struct scan_writer *w, struct err *e)
{
	return w->batch && clock_wall_ns() - w->begun_ns >= BATCH_NS ? commit_batch(w, e) : 0;
}

// To be called before each write: begins a transaction where none is open, and commits a full one before.
static int begin_row(struct scan_writer *w, struct err *e)
{
	if (w->batch >= BATCH && commit_batch(w, e) < 0)
		return -1;
	if (!w->batch) {
		if (catalog_begin(w->catalog, &w->open, e) < 0)
			return -1;
		w->begun_ns = clock_wall_ns();
	}
	w->batch++;
	return 0;
}

// Gives the folder a row. An upload may have written it meanwhile.
static int ensure_folder(struct scan_writer *w, struct folder *f, struct err *e)
{
	if (f->catalog_id)
		return 0;
	return catalog_folder_ensure(w->catalog, f->platform->id, f->path, &f->catalog_id, e);
}

// Counts what a write did to a file name. True where the name was and is listed, with the same bytes.
static bool count_effect(struct scan_writer *w, const struct platform *p, const char *path,
	const struct catalog_effect *effect)
{
	if (effect->is_listed && !effect->was_listed)
		w->summary->number[SCAN_REPORT_ADDED]++;
	if (!effect->is_listed || !effect->was_listed)
		return false;
	if (memcmp(effect->before, effect->after, SHA256_SIZE) == 0)
		return true;
	char before[SHA256_HEX + 1] = "", after[SHA256_HEX + 1] = "";
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", p->name, path);
	w->summary->number[SCAN_REPORT_CHANGED]++;
	if (!p->is_mutable) {
		hex_encode(effect->before, SHA256_SIZE, before);
		hex_encode(effect->after, SHA256_SIZE, after);
		summary_add_private(w->summary, SCAN_REPORT_LIST_CHANGED, p->is_private, whole, before, after);
	}
	return false;
}

// Adds a file's oddities to the summary, as one line.
static void report_findings(struct scan_writer *w, const struct scan_event *ev, const char *path)
{
	const struct findings *f = &ev->facts->wheel.findings;
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", ev->folder->platform->name, path);
	CLEANUP(mem_free) char *lines = xstrndup(f->text.data, str_trim(buf_view(&f->text)).len);
	for (char *at = lines; (at = strchr(at, '\n')) != NULL;)
		*at = ';';
	w->summary->number[SCAN_REPORT_FINDINGS] += f->count;
	summary_add(w->summary, SCAN_REPORT_LIST_FINDINGS, whole, lines, NULL);
}

static int write_file_row(struct scan_writer *w, const struct scan_event *ev, struct err *e)
{
	struct err misfit = ERR_INIT;
	struct catalog_effect effect;
	if (begin_row(w, e) < 0 || ensure_folder(w, ev->folder, e) < 0)
		return -1;
	const struct folder *f = ev->folder;
	struct catalog_entry entry = ingest_entry(ev->facts);
	entry.is_guarded = true;
	entry.id = ev->id;
	entry.written = ev->written;
	entry.platform = f->platform->id;
	entry.folder = f->catalog_id;
	entry.folder_path = f->path;
	entry.trusted = ev->trusted;
	if (!entry.refusal && !profile_fits_machine(&ev->folder->platform->profile, &ev->facts->name, &misfit))
		entry.misfit = misfit.msg;
	CLEANUP(mem_free) char *path = folder_file(ev->folder, entry.filename);
	if (catalog_file_put(w->catalog, &entry, &effect, e) < 0 ||
		(ev->inside && packed_facts_put(ev->inside, w->catalog, entry.sha256, e) < 0))
		return err_prefix(e, "%s/%s: ", ev->folder->platform->name, path);
	if (effect.was_left)
		return 0;
	if (ev->inside && ev->inside->why) {
		// The name of a file of a private platform is not for the log.
		const struct platform *p = ev->folder->platform;
		(p->is_private ? log_debug : log_warn)("%s/%s: what is inside is unknown: %s", p->name, path,
			ev->inside->why);
	}
	if (count_effect(w, ev->folder->platform, path, &effect) && ev->id && !entry.refusal)
		w->summary->number[SCAN_REPORT_UNCHANGED]++;
	if (effect.is_new && (entry.refusal || (entry.misfit && effect.is_listed))) {
		// What an operator should hear of at once: quarantined files, and wheels for other machines.
		CLEANUP(mem_free) char *whole = xasprintf("%s/%s", ev->folder->platform->name, path);
		summary_add_private(w->summary, SCAN_REPORT_LIST_NEWS, ev->folder->platform->is_private, whole,
			entry.refusal ? entry.refusal : entry.misfit, entry.refusal ? "quarantined" : "misfit");
	}
	if (!entry.refusal && entry.findings)
		report_findings(w, ev, path);
	return 0;
}

// Writes a mark, and counts what it did to its file. Fills in the folder of *m.
static int write_mark_row(struct scan_writer *w, struct folder *f, struct catalog_mark *m, struct err *e)
{
	struct catalog_effect effect;
	if (begin_row(w, e) < 0 || ensure_folder(w, f, e) < 0)
		return -1;
	m->is_guarded = true;
	m->platform = f->platform->id;
	m->folder = f->catalog_id;
	m->folder_path = f->path;
	if (catalog_mark_put(w->catalog, m, &effect, e) < 0)
		return err_prefix(e, "%s/%s/%s%s: ", f->platform->name, f->path, m->mark == MARK_STATUS ? "" : m->filename,
			sidecar_ending[m->mark]);
	if (effect.was_listed && !effect.is_listed)
		w->summary->number[SCAN_REPORT_GONE]++;
	count_effect(w, f->platform, m->filename, &effect);
	return 0;
}

static int handle_mark(struct scan_writer *w, const struct scan_event *ev, struct err *e)
{
	struct catalog_mark m = {.written = ev->written, .filename = ev->filename, .mark = ev->mark, .text = ev->text};
	if (ev->text)
		return write_mark_row(w, ev->folder, &m, e);
	GROW(w->mark, w->mark_count, w->mark_room);
	w->mark[w->mark_count++] =
		(struct mark_removal){folder_ref(ev->folder), xstrdup(ev->filename), ev->mark, ev->written};
	return 0;
}

static int remove_mark_row(struct scan_writer *w, const struct mark_removal *g, struct err *e)
{
	struct catalog_mark m = {.written = g->written, .filename = g->filename, .mark = g->mark};
	return write_mark_row(w, g->folder, &m, e);
}

static int handle_attachment(struct scan_writer *w, const struct scan_event *ev, struct err *e)
{
	struct folder *f = ev->folder;
	if (!ev->attached) {
		GROW(w->attachment, w->attachment_count, w->attachment_room);
		w->attachment[w->attachment_count++] =
			(struct attachment_removal){folder_ref(f), xstrdup(ev->filename), ev->attachment, ev->written};
		return 0;
	}
	struct catalog_attachment row = attachment_facts_row(ev->attached, ev->filename, ev->attachment);
	if (begin_row(w, e) < 0 || ensure_folder(w, f, e) < 0)
		return -1;
	row.is_guarded = true;
	row.written = ev->written;
	row.platform = f->platform->id;
	row.folder = f->catalog_id;
	// One that is not valid is taken all the same: pages and explain do without it.
	if (ev->attached->refusal.kind != ERR_NONE) {
		CLEANUP(mem_free) char *below = folder_file(ev->folder, ev->filename);
		CLEANUP(mem_free)
		char *whole =
			xasprintf("%s/%s%s", ev->folder->platform->name, below, attachment_ending[ev->attachment]);
		w->summary->number[SCAN_REPORT_FINDINGS]++;
		summary_add(w->summary, SCAN_REPORT_LIST_FINDINGS, whole, ev->attached->refusal.msg, NULL);
	}
	return catalog_attachment_put(w->catalog, &row, e);
}

static int remove_attachment_row(struct scan_writer *w, const struct attachment_removal *g, struct err *e)
{
	const struct catalog_attachment row = {.is_guarded = true,
		.written = g->written,
		.folder = g->folder->catalog_id,
		.filename = g->filename,
		.kind = g->kind};
	return begin_row(w, e) < 0 ? -1 : catalog_attachment_remove(w->catalog, &row, e);
}

static int write_folder_row(struct scan_writer *w, const struct scan_event *ev, struct err *e)
{
	struct folder *f = ev->folder;
	struct catalog_folder row = {.mtime_ns = f->info.version.time_ns,
		.ignored = f->ignored,
		.trusted = f->is_settled && !atomic_load(&f->needs_rescan)};
	const struct catalog_folder *known = &f->known;
	if (known->id && known->mtime_ns == row.mtime_ns && known->ignored == row.ignored &&
		known->trusted == row.trusted)
		return 0; // a scan that finds nothing new writes nothing
	if (begin_row(w, e) < 0 || ensure_folder(w, f, e) < 0)
		return -1;
	row.id = f->catalog_id;
	return catalog_folder_set(w->catalog, &row, e);
}

static void add_row_removal(struct removals *list, int64_t id, int64_t written, const struct folder *f)
{
	GROW(list->item, list->count, list->room);
	list->item[list->count++] = (struct row_removal){id, written, f->platform_index, f->depth};
}

static void note_unreadable_platform(struct scan_writer *w, size_t index)
{
	scan_writer_note_unreadable(w);
	w->unreadable[index] = true;
}

static void note_link(struct scan_writer *w, const struct scan_event *ev)
{
	const struct platform *p = ev->folder->platform;
	CLEANUP(mem_free) char *path = folder_file(ev->folder, ev->filename);
	CLEANUP(mem_free) char *whole = xasprintf("%s/%s", p->name, path);
	summary_add_private(w->summary, SCAN_REPORT_LIST_LINKS, p->is_private, whole, ev->text, NULL);
}

int scan_writer_handle(struct scan_writer *w, const struct scan_event *ev, struct err *e)
{
	bool is_platform; // the folder that could not be read is the root of a platform
	switch (ev->kind) {
	case SCAN_EVENT_FILE:
		return write_file_row(w, ev, e);
	case SCAN_EVENT_MARK:
		return handle_mark(w, ev, e);
	case SCAN_EVENT_ATTACHMENT:
		return handle_attachment(w, ev, e);
	case SCAN_EVENT_FOLDER_NEW:
		return begin_row(w, e) < 0 ? -1 : ensure_folder(w, ev->folder, e);
	case SCAN_EVENT_FOLDER:
		return write_folder_row(w, ev, e);
	case SCAN_EVENT_FILE_GONE:
		w->gone[ev->folder->platform_index]++;
		add_row_removal(&w->files, ev->id, ev->written, ev->folder);
		return 0;
	case SCAN_EVENT_FOLDER_GONE:
		if (ev->folder->catalog_id)
			add_row_removal(&w->folders, ev->folder->catalog_id, 0, ev->folder);
		return 0;
	case SCAN_EVENT_PROBLEM:
		is_platform = ev->hides_folder && !ev->folder->parent;
		if (is_platform)
			note_unreadable_platform(w, ev->folder->platform_index);
		summary_add_private(w->summary, SCAN_REPORT_LIST_PROBLEMS,
			!is_platform && ev->folder->platform->is_private, ev->text, NULL, NULL);
		return 0;
	case SCAN_EVENT_LINK:
		note_link(w, ev);
		return 0;
	case SCAN_EVENT_WAITING:
		summary_add(w->summary, SCAN_REPORT_LIST_WAITING, ev->text, NULL, NULL);
		return 0;
	}
	return 0;
}

uint64_t scan_writer_gone(const struct scan_writer *w, size_t platform_index)
{
	return w->gone[platform_index];
}

void scan_writer_note_unreadable(struct scan_writer *w)
{
	w->is_partial = true;
}

void scan_writer_keep_platform(struct scan_writer *w, size_t platform_index)
{
	note_unreadable_platform(w, platform_index);
	w->kept[platform_index] = true;
}

static int remove_file_row(struct scan_writer *w, const struct row_removal *g, struct err *e)
{
	struct catalog_effect effect;
	char name[LIMIT_FILE_NAME + 1];
	if (begin_row(w, e) < 0 || catalog_file_remove(w->catalog, g->id, g->written, name, &effect, e) < 0)
		return -1;
	if (effect.was_listed && !effect.is_listed)
		w->summary->number[SCAN_REPORT_GONE]++;
	count_effect(w, &w->store->platform[g->platform_index], name, &effect);
	return 0;
}

static int deepest_first(const void *a, const void *b)
{
	const struct row_removal *x = a, *y = b;
	return (x->depth < y->depth) - (x->depth > y->depth);
}

// Removes files first, then their marks and attachments, then empty folders, the deepest first. Rows that other
// processes wrote after the scan read them stay.
static int remove_gone_rows(struct scan_writer *w, struct err *e)
{
	if (w->folders.count)
		qsort(w->folders.item, w->folders.count, sizeof(*w->folders.item), deepest_first);
	for (size_t i = 0; i < w->files.count; i++)
		if (!w->kept[w->files.item[i].platform_index] && remove_file_row(w, &w->files.item[i], e) < 0)
			return -1;
	for (size_t i = 0; i < w->mark_count; i++)
		if (!w->kept[w->mark[i].folder->platform_index] && remove_mark_row(w, &w->mark[i], e) < 0)
			return -1;
	for (size_t i = 0; i < w->attachment_count; i++)
		if (!w->kept[w->attachment[i].folder->platform_index] &&
			remove_attachment_row(w, &w->attachment[i], e) < 0)
			return -1;
	for (size_t i = 0; i < w->folders.count; i++)
		if (!w->kept[w->folders.item[i].platform_index] &&
			(begin_row(w, e) < 0 || catalog_folder_remove(w->catalog, w->folders.item[i].id, e) < 0))
			return -1;
	return 0;
}

static int write_scan_done(struct scan_writer *w, struct err *e)
{
	bool scanned;
	if (catalog_was_scanned(w->catalog, &scanned, e) < 0)
		return -1;
	if (scanned)
		return 0;
	return begin_row(w, e) < 0 ? -1 : catalog_set_scanned(w->catalog, e);
}

int scan_writer_finish_changes(struct scan_writer *w, struct err *e)
{
	return remove_gone_rows(w, e) < 0 ? -1 : commit_batch(w, e);
}

int scan_writer_finish(struct scan_writer *w, const int64_t *dropped, size_t dropped_count, struct err *e)
{
	if (remove_gone_rows(w, e) < 0)
		return -1;
	for (size_t i = 0; i < dropped_count; i++)
		if (begin_row(w, e) < 0 || catalog_platform_clear(w->catalog, dropped[i], e) < 0)
			return -1;
	for (size_t i = 0; i < w->store->platform_count; i++) {
		const struct platform *p = &w->store->platform[i];
		enum catalog_scanned now = w->unreadable[i] ? CATALOG_UNREADABLE : CATALOG_SCANNED;
		if (p->scanned != CATALOG_SCANNED && p->scanned != now &&
			(begin_row(w, e) < 0 || catalog_platform_set_scanned(w->catalog, p->id, now, e) < 0))
			return -1;
	}
	if ((!w->is_partial && write_scan_done(w, e) < 0))
		return -1;
	return commit_batch(w, e) < 0 ? -1 : catalog_mend_state(w->catalog, e);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-sync.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"

// --- evidence ---

enum { FOLDERS = 256 };

struct evidence_id {
	uint8_t id[SHA256_SIZE];
	bool is_there;
};

// One of the folders.
struct evidence_sync {
	const char *folder;
	struct catalog *catalog;
	views_sync_damage_fn *fn;
	void *ctx;
	struct views_sync_counts *counts;
	struct catalog_transaction open; // if something is to be written
	uint8_t first;
	struct place_folder *part; // NULL: there is none
	bool is_unsettled;         // it is to be listed again: a file is damaged, or is being written
	struct evidence_id *known; // what the catalog has, sorted
	size_t count, room;
};

static void evidence_sync_release(struct evidence_sync *s)
{
	catalog_rollback(&s->open);
	place_folder_close(&s->part);
	free(s->known);
}

static void report_record(struct evidence_sync *s, const uint8_t id[SHA256_SIZE], const char *reason)
{
	char below[EVIDENCE_FILE_FOLDER], name[EVIDENCE_FILE_NAME];
	evidence_file_folder(s->first, below);
	evidence_file_name(id, name);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", below, name);
	s->counts->damaged++;
	if (s->fn)
		s->fn(s->ctx, path, reason);
}

static int begin_writing(struct evidence_sync *s, struct err *e)
{
	return s->open.catalog ? 0 : catalog_begin(s->catalog, &s->open, e);
}

static int add_known_id(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e UNUSED)
{
	struct evidence_sync *s = ctx;
	GROW(s->known, s->count, s->room);
	struct evidence_id *one = &s->known[s->count++];
	memcpy(one->id, id, SHA256_SIZE);
	one->is_there = false;
	return 0;
}

static int compare_ids(const void *key, const void *one)
{
	return memcmp(key, ((const struct evidence_id *)one)->id, SHA256_SIZE);
}

static int read_file(struct evidence_sync *s, const char *name, const uint8_t id[SHA256_SIZE], struct buf *text,
	struct evidence_file *f, struct err *e)
{
	if (record_read(s->part, name, EVIDENCE_FILE_MOST, text, e) < 0 ||
		evidence_file_read(buf_view(text), f, e) < 0)
		return -1;
	if (memcmp(f->row.id, id, SHA256_SIZE) == 0)
		return 0;
	evidence_file_release(f);
	return err_set(e, ERR_INVALID, "it is not the record that its name says");
}

static int take_evidence(struct evidence_sync *s, const char *name, const uint8_t id[SHA256_SIZE], struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(EVIDENCE_FILE_MOST);
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	if (read_file(s, name, id, &text, &f, &why) < 0) {
		s->is_unsettled = true;
		report_record(s, id, why.msg);
		return 0;
	}
	if (begin_writing(s, e) < 0)
		return -1;
	// The row may be there, as an older wheelcache wrote it.
	if (catalog_evidence_remove(s->catalog, f.row.id, e) < 0)
		return -1;
	int added = evidence_file_put(s->catalog, &f, buf_view(&text), e);
	s->counts->evidence += added > 0;
	return added < 0 ? -1 : 0;
}

static int compare_name(void *ctx, const char *name, enum place_kind kind, struct err *e)
{
	struct evidence_sync *s = ctx;
	uint8_t id[SHA256_SIZE];
	s->is_unsettled |= kind == PLACE_LEFTOVER;
	if (!evidence_file_is(name, id) || id[0] != s->first)
		return 0;
	struct evidence_id *known = s->count ? bsearch(id, s->known, s->count, sizeof(*known), compare_ids) : NULL;
	if (!known)
		return take_evidence(s, name, id, e);
	known->is_there = true;
	return 0;
}

static int forget_missing(struct evidence_sync *s, struct err *e)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->known[i].is_there)
			continue;
		if (begin_writing(s, e) < 0 || catalog_evidence_remove(s->catalog, s->known[i].id, e) < 0)
			return -1;
		report_record(s, s->known[i].id, "it is missing: the record is forgotten");
	}
	return 0;
}

static int sync_folder(struct evidence_sync *s, struct err *e)
{
	char below[EVIDENCE_FILE_FOLDER];
	struct place_info info = {.kind = PLACE_UNKNOWN};
	struct err why = ERR_INIT;
	int64_t listed;
	evidence_file_folder(s->first, below);
	s->part = record_folder(s->folder, below, false, &why);
	if (catalog_evidence_folder(s->catalog, s->first, &listed, e) < 0)
		return -1;
	if (!s->part && why.kind != ERR_NOT_FOUND) {
		s->counts->damaged++;
		if (s->fn)
			s->fn(s->ctx, below, why.msg);
		return 0;
	}
	if (s->part && place_folder_info(s->part, &info, e) < 0)
		return err_prefix(e, "%s/%s: ", s->folder, below);
	if (s->part && info.version.time_ns == listed)
		return 0;
	// The catalog is read before the folder: what the catalog has was in the folder before.
	if (catalog_evidence_ids(s->catalog, s->first, add_known_id, s, e) < 0)
		return -1;
	if (s->part && record_names(s->part, compare_name, s, e) < 0)
		return -1;
	if (forget_missing(s, e) < 0)
		return -1;
	if (!s->is_unsettled && place_version_is_settled(&info.version, clock_wall_ns()) &&
		(begin_writing(s, e) < 0 ||
			catalog_evidence_folder_set(s->catalog, s->first, info.version.time_ns, e) < 0))
		return -1;
	return s->open.catalog ? catalog_commit(&s->open, e) : 0;
}

static int sync_evidence(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e)
{
	struct err why = ERR_INIT;
	const struct evidence_sync start = {
		.folder = folder, .catalog = c, .fn = fn, .ctx = ctx, .counts = counts};
	CLEANUP(place_folder_close)
	struct place_folder *top = record_folder(folder, VIEWS_FILE_EVIDENCE, false, &why);
	if (!top) {
		struct evidence_sync s = start;
		// A volume that is not mounted has lost nothing.
		int64_t last;
		if (catalog_evidence_last(s.catalog, &last, e) < 0)
			return -1;
		if (why.kind == ERR_NOT_FOUND && !last)
			return 0;
		CLEANUP(mem_free) char *reason = xasprintf("%s: the known records are kept", why.msg);
		s.counts->damaged++;
		if (s.fn)
			s.fn(s.ctx, VIEWS_FILE_EVIDENCE, reason);
		return 0;
	}
	for (int i = 0; i < FOLDERS; i++) {
		CLEANUP(evidence_sync_release) struct evidence_sync s = start;
		s.first = (uint8_t)i;
		if (sync_folder(&s, e) < 0)
			return -1;
	}
	return 0;
}

// --- memberships ---

// The part of views-sync for one view: compares its files with the catalog.
enum { ZSTD_LEVEL = 6 };

struct membership_sync {
	const char *view;
	struct catalog *catalog;
	views_sync_damage_fn *fn;
	void *ctx;
	struct views_sync_counts *counts;
	struct place_folder *part; // NULL: there is no folder
	struct catalog_view known; // what the catalog has
	bool is_as_known;          // the file of the newest known generation is there, with its bytes
	int64_t files, last;       // number of files, and the highest of their numbers
	int64_t changed;           // the first generation that was changed after it was written; 0: none was
	struct err why;            // of that
};

static void report_damage(struct membership_sync *s, const char *name, const char *reason)
{
	CLEANUP(mem_free) char *path = xasprintf("%s%s%s", s->view, *name ? "/" : "", name);
	s->counts->damaged++;
	if (s->fn)
		s->fn(s->ctx, path, reason);
}

static int load_file(const struct membership_sync *s, int64_t number, struct buf *text, uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	char name[MEMBERSHIP_NAME];
	membership_name(number, name);
	if (record_read(s->part, name, LIMIT_MEMBERSHIP, text, e) < 0)
		return -1;
	digest_sha256(buf_view(text), sha256);
	return 0;
}

// --- looking ---

static int count_file(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	struct membership_sync *s = ctx;
	int64_t number = membership_number(name);
	s->files += number > 0;
	s->last = number > s->last ? number : s->last;
	return 0;
}

// The arguments of compare_bytes.
struct compared_generation {
	struct str file;
	bool is_same;
};

static int compare_bytes(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct compared_generation *c = ctx;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	if (decompress_zstd(g->packed, &text, e) < 0)
		return -1;
	c->is_same = str_eq(buf_view(&text), c->file);
	return 0;
}

// 1: the file has the bytes that the catalog has; 0: it has not, and s->why says why.
static int has_known_bytes(struct membership_sync *s, int64_t number, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	s->why = (struct err)ERR_INIT;
	if (load_file(s, number, &text, sha256, &s->why) < 0)
		return 0;
	struct compared_generation c = {.file = buf_view(&text)};
	if (catalog_view_generations(s->catalog, s->view, number + 1, 1, compare_bytes, &c, e) < 0)
		return -1;
	if (!c.is_same)
		err_set(&s->why, ERR_INVALID, "it was changed after it was written: the catalog has other bytes");
	return c.is_same;
}

// The catalog is read before the folder: what the catalog has was in the folder before.
static int look_at_view(struct membership_sync *s, struct err *e)
{
	struct err ignored = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	s->files = s->last = s->changed = 0;
	if (catalog_view_find(s->catalog, s->view, &s->known, e) < 0)
		return -1;
	if (s->part && record_names(s->part, count_file, s, e) < 0)
		return err_prefix(e, "view %s: ", s->view);
	s->is_as_known =
		!s->known.generation || (s->part && load_file(s, s->known.generation, &text, sha256, &ignored) == 0 &&
						memcmp(sha256, s->known.sha256, SHA256_SIZE) == 0);
	if (!s->is_as_known)
		return 0;
	// Each generation is written before the next one. So a file that is younger than one of a higher number was
	// changed since, or copied; then its bytes tell. wheelcache check reads all files.
	int64_t oldest = INT64_MAX; // of those of higher numbers
	for (int64_t number = s->known.generation; number > 0 && s->part; number--) {
		char name[MEMBERSHIP_NAME];
		struct place_info info;
		struct err unseen = ERR_INIT;
		membership_name(number, name);
		if (place_stat(s->part, name, &info, &unseen) <= 0)
			continue;
		int64_t mtime_ns = info.version.time_ns;
		int same = mtime_ns > oldest ? has_known_bytes(s, number, e) : 1;
		if (same < 0)
			return -1;
		s->changed = same ? s->changed : number;
		oldest = mtime_ns < oldest ? mtime_ns : oldest;
	}
	return 0;
}

static bool is_whole(const struct membership_sync *s)
{
	return s->files == s->last && s->is_as_known && !s->changed && !s->known.is_damaged;
}

// --- reading generations ---

static int end_members(struct catalog *c, const struct membership_change *m, struct err *e)
{
	int64_t platform = 0;
	for (size_t i = 0; i < m->removes; i++) {
		const struct membership_file *f = &m->remove[i];
		if (catalog_platform_ensure(c, f->platform, &platform, e) < 0 ||
			catalog_view_end_member(c, m->view, m->generation, platform, f->filename, f->sha256, e) < 0)
			return -1;
	}
	return 0;
}

static int apply_change(struct catalog *c, const struct membership_change *m, const uint8_t sha256[SHA256_SIZE],
	struct str text, struct err *e)
{
	CLEANUP(buf_release) struct buf packed = buf_up_to(LIMIT_MEMBERSHIP + LIMIT_MEMBERSHIP / 8);
	if (compress_zstd(text, ZSTD_LEVEL, &packed, e) < 0)
		return -1;
	const struct catalog_generation g = {
		.number = m->generation,
		.made = m->made,
		.action = m->action,
		.by = m->by,
		.reason = m->reason,
		.added = m->adds,
		.removed = m->removes,
		.packed = buf_view(&packed),
	};
	if (catalog_view_append(c, m->view, &g, sha256, e) < 0)
		return -1;
	for (size_t i = 0; i < m->times; i++)
		if (catalog_view_set_made(c, m->view, m->time[i].generation, m->time[i].made, e) < 0)
			return -1;
	if (end_members(c, m, e) < 0)
		return -1;
	for (size_t i = 0; i < m->adds; i++) {
		const struct membership_file *f = &m->add[i];
		struct catalog_member member = {.project = f->project, .filename = f->filename, .sha256 = f->sha256};
		if (catalog_platform_ensure(c, f->platform, &member.platform, e) < 0 ||
			catalog_view_add_member(c, m->view, m->generation, &member, e) < 0)
			return -1;
	}
	return 0;
}

// Whether it is the generation that follows the one before.
static int check_sequence(const struct membership_sync *s, const struct membership_change *m,
	const struct catalog_view *before, struct err *e)
{
	if (strcmp(m->view, s->view) != 0 || m->generation != before->generation + 1)
		return err_set(e, ERR_INVALID, "it is generation %" PRId64 " of view %s", m->generation, m->view);
	if (m->has_previous && memcmp(m->previous, before->sha256, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "it does not continue the generation before");
	if (m->made < before->made && !m->times)
		return err_set(e, ERR_INVALID, "it is older than the generation before");
	return 0;
}

// Reads the generation behind *before, which it then becomes. *is_file: an error is one of the file.
static int take_generation(struct membership_sync *s, struct catalog_view *before, bool *is_file, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	CLEANUP(membership_release) struct membership_change m = {0};
	*is_file = true;
	if (load_file(s, before->generation + 1, &text, sha256, e) < 0 || membership_read(buf_view(&text), &m, e) < 0 ||
		check_sequence(s, &m, before, e) < 0)
		return -1;
	if (apply_change(s->catalog, &m, sha256, buf_view(&text), e) < 0) {
		*is_file = e->kind == ERR_CONFLICT;
		return -1;
	}
	*before = (struct catalog_view){.generation = m.generation, .made = m.made};
	memcpy(before->sha256, sha256, SHA256_SIZE);
	return 0;
}

// What a transaction is to do.
struct taking {
	bool is_again;  // from the first generation on
	int64_t most;   // the last generation to read
	int64_t good;   // result: the last one that was good
	bool is_file;   // result of an error: that of the file behind the last good one
	bool is_marked; // the membership is damaged
};

// All of it or nothing. 1: done; 0: another process has changed the catalog meanwhile; -1.
static int take_at_once(struct membership_sync *s, struct taking *t, struct err *e)
{
	struct catalog_view now;
	CLEANUP(catalog_rollback) struct catalog_transaction open = {0};
	t->is_file = false;
	if (catalog_begin(s->catalog, &open, e) < 0 || catalog_view_find(s->catalog, s->view, &now, e) < 0)
		return -1;
	if (now.generation != s->known.generation || memcmp(now.sha256, s->known.sha256, SHA256_SIZE) != 0)
		return 0;
	struct catalog_view at = t->is_again ? (struct catalog_view){0} : s->known;
	if (t->is_again && catalog_view_clear(s->catalog, s->view, e) < 0)
		return -1;
	while (at.generation < t->most) {
		t->good = at.generation;
		if (take_generation(s, &at, &t->is_file, e) < 0)
			return -1;
	}
	t->is_file = false;
	t->good = at.generation;
	if (catalog_view_set_damaged(s->catalog, s->view, t->is_marked, e) < 0 || catalog_commit(&open, e) < 0)
		return -1;
	return 1;
}

// --- deciding ---

static void report_file(struct membership_sync *s, int64_t number, const char *reason)
{
	char name[MEMBERSHIP_NAME];
	membership_name(number, name);
	report_damage(s, name, reason);
}

// The first number without a file.
static int64_t missing_number(const struct membership_sync *s)
{
	for (int64_t number = 1; s->part && number <= s->last; number++) {
		char name[MEMBERSHIP_NAME];
		struct place_info info;
		struct err unseen = ERR_INIT;
		membership_name(number, name);
		if (place_stat(s->part, name, &info, &unseen) <= 0)
			return number;
	}
	return s->last + 1;
}

// The catalog keeps what it has, and takes the good generations behind that. 1: done; 0: as take_at_once; -1.
static int keep_known(struct membership_sync *s, int64_t good, struct err *e)
{
	struct taking t = {.most = good > s->known.generation ? good : s->known.generation, .is_marked = true};
	if (t.most == s->known.generation && s->known.is_known && s->known.is_damaged)
		return 1;
	s->counts->generations += (uint64_t)(t.most - s->known.generation);
	return take_at_once(s, &t, e);
}

// The file of the newest known generation is not there, or has other bytes. Where all files are good, the store was
// restored from a backup, and the catalog follows it.
static int take_store(struct membership_sync *s, struct err *e)
{
	struct err why = ERR_INIT;
	struct taking t = {.is_again = true, .most = s->last};
	bool may_be_whole = s->last > 0 && s->files == s->last;
	int done = may_be_whole ? take_at_once(s, &t, &why) : -1;
	if (done < 0 && may_be_whole && !t.is_file) {
		*e = why;
		return -1;
	}
	if (done > 0) {
		CLEANUP(mem_free)
		char *reason = xasprintf("the store has other generations, 1 to %" PRId64 ", than the %" PRId64
					 " that were known: they are read again",
			s->last, s->known.generation);
		report_damage(s, "", reason);
	}
	if (done >= 0)
		return done;
	if (!s->part)
		report_damage(s, "", "its folder is missing: what was known of it is kept");
	else
		report_file(s, t.is_file ? t.good + 1 : missing_number(s), t.is_file ? why.msg : "it is missing");
	return keep_known(s, 0, e);
}

// The generations that are new, up to a file that is missing.
static int take_new(struct membership_sync *s, struct err *e)
{
	struct err why = ERR_INIT;
	struct taking t = {.most = s->last > s->known.generation ? s->last : s->known.generation};
	if (s->files != s->last) {
		int64_t missing = missing_number(s);
		report_file(s, missing, "it is missing");
		return keep_known(s, missing > s->known.generation ? missing - 1 : 0, e);
	}
	int done = take_at_once(s, &t, &why);
	if (done > 0)
		s->counts->generations += (uint64_t)(t.most - s->known.generation);
	if (done >= 0)
		return done;
	if (!t.is_file) {
		*e = why;
		return -1;
	}
	report_file(s, t.good + 1, why.msg);
	return keep_known(s, t.good, e);
}

// An old generation is damaged. Nothing is taken on top of it.
static int keep_changed(struct membership_sync *s, struct err *e)
{
	report_file(s, s->changed, s->why.msg);
	return keep_known(s, 0, e);
}

// 1: the membership is whole; 0: it is damaged.
static int follow_files(struct membership_sync *s, struct err *e)
{
	for (;;) {
		const struct views_sync_counts before = *s->counts;
		if (look_at_view(s, e) < 0)
			return -1;
		if (is_whole(s) && s->last == s->known.generation)
			return 1;
		int done = s->changed ? keep_changed(s, e) : s->is_as_known ? take_new(s, e) : take_store(s, e);
		if (done < 0)
			return -1;
		if (done > 0)
			return catalog_view_find(s->catalog, s->view, &s->known, e) < 0 ? -1 : !s->known.is_damaged;
		*s->counts = before; // another process was faster
	}
}

int views_sync_view(const char *folder, const char *view, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e)
{
	struct err why = ERR_INIT;
	struct membership_sync s = {.view = view, .catalog = c, .fn = fn, .ctx = ctx, .counts = counts};
	CLEANUP(place_folder_close) struct place_folder *open = s.part = record_folder(folder, view, false, &why);
	if (open || why.kind == ERR_NOT_FOUND)
		return follow_files(&s, e);
	report_damage(&s, "", why.msg);
	if (catalog_view_find(c, view, &s.known, e) < 0 || keep_known(&s, 0, e) < 0)
		return -1;
	return 0;
}

// --- both ---

static int add_known_view(void *ctx, const char *view, struct err *e UNUSED)
{
	strset_add(ctx, view);
	return 0;
}

struct view_folders {
	struct place_folder *open;
	struct strset *views;
};

static int add_view_folder(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	struct view_folders *f = ctx;
	if (!platform_name_is_valid(str_from(name)) || strcmp(name, VIEWS_FILE_EVIDENCE) == 0)
		return 0;
	struct place_info info;
	struct err unseen = ERR_INIT;
	if (!(place_stat(f->open, name, &info, &unseen) > 0 && info.kind == PLACE_FOLDER))
		return 0;
	if (f->views->count == LIMIT_VIEW_FOLDERS)
		return err_set(e, ERR_LIMIT, "more than %d folders of views", LIMIT_VIEW_FOLDERS);
	strset_add(f->views, name);
	return 0;
}

int views_find_folders(const char *folder, bool sweeps, struct strset *views, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, "", false, &why);
	struct view_folders f = {open, views};
	if (!open && why.kind == ERR_NOT_FOUND)
		return 0;
	if (open && (sweeps ? record_names : place_list)(open, add_view_folder, &f, &why) == 0)
		return 0;
	return err_set(e, why.kind, "the folder of memberships %s: %s", folder, why.msg);
}

int views_sync(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e)
{
	CLEANUP(strset_release) struct strset views = {0};
	*counts = (struct views_sync_counts){0};
	if (catalog_views(c, add_known_view, &views, e) < 0 || views_find_folders(folder, true, &views, e) < 0)
		return -1;
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++)
		if (views_sync_view(folder, views.item[i], c, fn, ctx, counts, e) < 0)
			return -1;
	if (sync_evidence(folder, c, fn, ctx, counts, e) < 0)
		return -1;
	struct catalog_view unknown;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	// No view has this name, so that it is damaged as long as nothing was read.
	if (catalog_view_find(c, "", &unknown, e) < 0)
		return -1;
	if (!unknown.is_damaged)
		return 0;
	return catalog_begin(c, &t, e) < 0 || catalog_views_set_read(c, e) < 0 ? -1 : catalog_commit(&t, e);
}

// --- adding a generation ---

char *views_folder_or_none(const struct config *c)
{
	if (c->views_path)
		return xstrdup(c->views_path);
	return c->store ? xasprintf("%s/.wheelcache-views", c->store) : NULL;
}

int views_folder(const struct config *c, char **out, struct err *e)
{
	*out = NULL;
	if (!c->views_path && !c->store)
		return err_set(e, ERR_USAGE,
			"memberships of views need [store] views, or a store for all platforms ([store] path)");
	*out = views_folder_or_none(c);
	return 0;
}

// Brings the catalog up to date, and checks that the caller has decided on its newest generation.
static int check_newest(const char *folder, struct catalog *c, const struct membership_change *m,
	struct catalog_view *newest, struct err *e)
{
	struct views_sync_counts counts = {0};
	int whole = views_sync_view(folder, m->view, c, NULL, NULL, &counts, e);
	if (whole < 0 || catalog_view_find(c, m->view, newest, e) < 0)
		return -1;
	if (!whole)
		return err_set(e, ERR_INVALID,
			"the membership of view %s is damaged; \"wheelcache index\" says which file", m->view);
	if (newest->generation != m->generation - 1)
		return err_set(e, ERR_CONFLICT, "view %s has generation %" PRId64 " already", m->view,
			newest->generation);
	if (m->generation > LIMIT_GENERATIONS)
		return err_set(e, ERR_LIMIT, "view %s has %d generations", m->view, LIMIT_GENERATIONS);
	return 0;
}

// A file that cannot be read again would damage the view.
static int write_checked(const struct membership_change *m, struct buf *text, struct err *e)
{
	CLEANUP(membership_release) struct membership_change again = {0};
	membership_write(m, text);
	if (text->failed)
		return err_set(e, ERR_LIMIT, "view %s: a generation of more than %d bytes", m->view, LIMIT_MEMBERSHIP);
	if (membership_read(buf_view(text), &again, e) < 0)
		return err_prefix(e, "view %s: ", m->view);
	return 0;
}

static int create_generation(const char *folder, const struct membership_change *m, struct err *e)
{
	char name[MEMBERSHIP_NAME];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MEMBERSHIP);
	membership_name(m->generation, name);
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if (write_checked(m, &text, e) < 0 || views_write_enter(folder, &hold, e) < 0)
		return -1;
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, m->view, true, e);
	return open ? record_create(open, name, buf_view(&text), e) : -1;
}

// What is in the store by now, also if another writer was faster.
static int read_store(const char *folder, struct catalog *c, const struct membership_change *m, struct err *e)
{
	struct views_sync_counts counts = {0};
	int whole = views_sync_view(folder, m->view, c, NULL, NULL, &counts, e);
	if (whole == 0)
		return err_set(e, ERR_INVALID, "the membership of view %s is damaged", m->view);
	return whole < 0 ? -1 : 0;
}

int membership_append(const char *folder, struct catalog *c, struct membership_change *m, struct err *e)
{
	struct catalog_view newest;
	struct err why = ERR_INIT;
	if (check_newest(folder, c, m, &newest, e) < 0)
		return -1;
	int64_t now = clock_wall_seconds();
	m->made = m->times || now > newest.made ? now : newest.made;
	m->has_previous = newest.generation > 0;
	memcpy(m->previous, newest.sha256, SHA256_SIZE);
	int created = create_generation(folder, m, &why);
	if (created < 0 && why.kind != ERR_CONFLICT) {
		*e = why;
		return -1;
	}
	if (read_store(folder, c, m, e) < 0)
		return -1;
	if (created < 0)
		return err_set(e, ERR_CONFLICT, "view %s: another writer made generation %" PRId64, m->view,
			m->generation);
	return 0;
}

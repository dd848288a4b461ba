// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/evidence-sync.h"

#include <stdlib.h>
#include <string.h>

#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/store/tempname.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/views-file.h"

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
	int dirfd;
	bool is_unsettled;         // it is to be listed again: a file is damaged, or is being written
	struct evidence_id *known; // what the catalog has, sorted
	size_t count, room;
};

static void evidence_sync_release(struct evidence_sync *s)
{
	catalog_rollback(&s->open);
	mem_close(&s->dirfd);
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
	if (views_file_read(s->dirfd, name, EVIDENCE_FILE_MOST, text, e) < 0 ||
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
	CLEANUP(buf_release) struct buf text;
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	buf_init(&text, EVIDENCE_FILE_MOST);
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

static int compare_name(void *ctx, const char *name, struct err *e)
{
	struct evidence_sync *s = ctx;
	uint8_t id[SHA256_SIZE];
	s->is_unsettled |= tempname_is(name);
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

static int note_folder(struct evidence_sync *s, int64_t mtime_ns, struct err *e)
{
	if (!s->is_unsettled && fs_mtime_is_reliable(mtime_ns, clock_wall_ns()) &&
		(begin_writing(s, e) < 0 || catalog_evidence_folder_set(s->catalog, s->first, mtime_ns, e) < 0))
		return -1;
	return s->open.catalog ? catalog_commit(&s->open, e) : 0;
}

// The catalog is read before the folder: what the catalog has was in the folder before.
static int compare_folder(struct evidence_sync *s, int64_t mtime_ns, struct err *e)
{
	if (catalog_evidence_ids(s->catalog, s->first, add_known_id, s, e) < 0)
		return -1;
	if (s->dirfd >= 0 && views_file_names(s->dirfd, true, compare_name, s, e) < 0)
		return -1;
	return forget_missing(s, e) < 0 ? -1 : note_folder(s, mtime_ns, e);
}

static int sync_folder(struct evidence_sync *s, struct err *e)
{
	char below[EVIDENCE_FILE_FOLDER];
	struct stat st = {0};
	struct err why = ERR_INIT;
	int64_t listed;
	evidence_file_folder(s->first, below);
	s->dirfd = views_file_folder(s->folder, below, false, &why);
	if (catalog_evidence_folder(s->catalog, s->first, &listed, e) < 0)
		return -1;
	if (s->dirfd < 0 && why.kind != ERR_NOT_FOUND) {
		s->counts->damaged++;
		if (s->fn)
			s->fn(s->ctx, below, why.msg);
		return 0;
	}
	if (s->dirfd >= 0 && fstat(s->dirfd, &st) < 0)
		return err_errno(e, ERR_IO, "%s/%s", s->folder, below);
	int64_t mtime_ns = fs_mtime_ns(&st);
	return s->dirfd >= 0 && mtime_ns == listed ? 0 : compare_folder(s, mtime_ns, e);
}

// A volume that is not mounted has lost nothing.
static int keep_records(struct evidence_sync *s, const struct err *why, struct err *e)
{
	int64_t last;
	if (catalog_evidence_last(s->catalog, &last, e) < 0)
		return -1;
	if (why->kind == ERR_NOT_FOUND && !last)
		return 0;
	CLEANUP(mem_free) char *reason = xasprintf("%s: the known records are kept", why->msg);
	s->counts->damaged++;
	if (s->fn)
		s->fn(s->ctx, VIEWS_FILE_EVIDENCE, reason);
	return 0;
}

int evidence_sync(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e)
{
	struct err why = ERR_INIT;
	const struct evidence_sync start = {
		.folder = folder, .catalog = c, .fn = fn, .ctx = ctx, .counts = counts, .dirfd = -1};
	CLEANUP(mem_close) int top = views_file_folder(folder, VIEWS_FILE_EVIDENCE, false, &why);
	if (top < 0) {
		struct evidence_sync s = start;
		return keep_records(&s, &why, e);
	}
	for (int i = 0; i < FOLDERS; i++) {
		CLEANUP(evidence_sync_release) struct evidence_sync s = start;
		s.first = (uint8_t)i;
		if (sync_folder(&s, e) < 0)
			return -1;
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/evidence-expire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"

enum { OLD_MOST = 100000 };

struct old_record {
	uint8_t id[SHA256_SIZE];
	bool is_named; // by a membership
};

struct expiry {
	struct catalog *catalog;
	struct old_record *record; // by id
	size_t records, room;
	struct strset views;
};

static void release_expiry(struct expiry *x)
{
	free(x->record);
	strset_release(&x->views);
}

static int add_old_record(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e UNUSED)
{
	struct expiry *x = ctx;
	GROW(x->record, x->records, x->room);
	memcpy(x->record[x->records].id, id, SHA256_SIZE);
	x->record[x->records++].is_named = false;
	return 0;
}

static int compare_records(const void *a, const void *b)
{
	return memcmp(((const struct old_record *)a)->id, ((const struct old_record *)b)->id, SHA256_SIZE);
}

// --- what memberships name ---

static int note_named(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct expiry *x = ctx;
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	CLEANUP(membership_release) struct membership_change m = {0};
	if (decompress_zstd(g->packed, &text, e) < 0 || membership_read(buf_view(&text), &m, e) < 0)
		return -1;
	for (size_t i = 0; i < m.evidences; i++) {
		struct old_record *found =
			bsearch(m.evidence[i], x->record, x->records, sizeof(*x->record), compare_records);
		if (found)
			found->is_named = true;
	}
	return 0;
}

static int add_expiry_view(void *ctx, const char *view, struct err *e UNUSED)
{
	strset_add(ctx, view);
	return 0;
}

// 1: all memberships are known as a whole; 0: one is not, so that it may name any record.
static int note_all_named(struct expiry *x, struct err *e)
{
	if (catalog_views(x->catalog, add_expiry_view, &x->views, e) < 0)
		return -1;
	for (size_t i = 0; i < x->views.count; i++) {
		struct catalog_view v;
		const char *name = x->views.item[i];
		if (catalog_view_find(x->catalog, name, &v, e) < 0)
			return -1;
		if (v.is_damaged)
			return 0;
		if (catalog_view_generations(x->catalog, name, INT64_MAX, INT64_MAX, note_named, x, e) < 0)
			return -1;
	}
	return 1;
}

// --- their end ---

static int delete_record(const char *folder, const uint8_t id[SHA256_SIZE], struct err *e)
{
	char below[EVIDENCE_FILE_FOLDER], name[EVIDENCE_FILE_NAME];
	evidence_file_folder(id[0], below);
	evidence_file_name(id, name);
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, below, false, e);
	if (!open)
		return -1;
	return place_remove(open, name, NULL, e) < 0 ? err_prefix(e, "%s/%s/", folder, below) : 0;
}

int evidence_expire(const char *folder, struct catalog *c, uint64_t keep, int64_t now, uint64_t *ended, struct err *e)
{
	CLEANUP(release_expiry) struct expiry x = {.catalog = c};
	if (!keep || now <= (int64_t)keep)
		return 0;
	if (catalog_evidence_older(c, now - (int64_t)keep, OLD_MOST, add_old_record, &x, e) < 0)
		return -1;
	if (!x.records)
		return 0;
	qsort(x.record, x.records, sizeof(*x.record), compare_records);
	int is_whole = note_all_named(&x, e);
	if (is_whole <= 0)
		return is_whole;
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (views_write_enter(folder, &hold, e) < 0 || catalog_begin(x.catalog, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < x.records; i++) {
		if (x.record[i].is_named)
			continue;
		if (delete_record(folder, x.record[i].id, e) < 0 ||
			catalog_evidence_remove(x.catalog, x.record[i].id, e) < 0)
			return -1;
		++*ended;
	}
	return catalog_commit(&t, e);
}

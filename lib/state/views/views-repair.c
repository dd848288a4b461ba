// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-repair.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

enum { DAY = 86400, FOLDERS = 256, SECOND = 1000000000 };

int64_t views_repair_limit(void)
{
	return clock_wall_seconds() + DAY;
}

// --- generations ---

struct repaired_view {
	int64_t limit, newest;
	struct membership_time *time; // of the generations in the future, the newest first
	size_t times, room;
	int64_t before; // when the generation before them was made
};

static void repaired_view_release(struct repaired_view *r)
{
	free(r->time);
}

static int take_future(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	struct repaired_view *r = ctx;
	if (g->made > r->limit) {
		GROW(r->time, r->times, r->room);
		r->time[r->times++] = (struct membership_time){g->number, g->made};
	} else if (g->made > r->before) {
		r->before = g->made;
	}
	return 0;
}

#define SECOND_NS ((int64_t)1000000000)

// A file that was written while the clock was ahead is no later than the one behind it.
static int find_times(struct repaired_view *r, const char *folder, const char *view, struct err *e)
{
	int64_t after = clock_wall_seconds();
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, view, false, e);
	if (!open)
		return -1;
	for (size_t i = 0; i < r->times; i++) {
		char name[MEMBERSHIP_NAME];
		struct place_info info;
		struct err unseen = ERR_INIT;
		membership_name(r->time[i].generation, name);
		if (place_stat(open, name, &info, &unseen) > 0 && info.version.time_ns / SECOND_NS < after)
			after = info.version.time_ns / SECOND_NS;
		after = after < r->before ? r->before : after;
		r->time[i].made = after;
	}
	for (size_t i = 0, k = r->times; i + 1 < k; i++) {
		struct membership_time one = r->time[--k];
		r->time[k] = r->time[i];
		r->time[i] = one;
	}
	return 0;
}

int views_repair_view(const char *folder, struct catalog *c, const char *view, const char *by, bool dry_run,
	uint64_t *generations, struct err *e)
{
	struct views_sync_counts counts = {0};
	CLEANUP(repaired_view_release) struct repaired_view r = {.limit = views_repair_limit()};
	int whole = dry_run ? 1 : views_sync_view(folder, view, c, NULL, NULL, &counts, e);
	if (whole == 0)
		return err_set(e, ERR_INVALID, "the membership of view %s is damaged: wheelcache index says which file",
			view);
	// Generations are never older than the one before, so all in the future are the newest ones.
	if (whole < 0)
		return -1;
	struct catalog_view known;
	if (catalog_view_find(c, view, &known, e) < 0)
		return -1;
	r.newest = known.generation;
	r.times = 0;
	if (catalog_view_generations(c, view, INT64_MAX, LIMIT_GENERATIONS, take_future, &r, e) < 0)
		return -1;
	*generations = r.times;
	if (!r.times || dry_run)
		return 0;
	if (find_times(&r, folder, view, e) < 0)
		return -1;
	struct membership_change m = {.view = view,
		.generation = r.newest + 1,
		.action = "repair",
		.by = by,
		.address = "",
		.reason = "the clock was ahead",
		.time = r.time,
		.times = r.times};
	return membership_append(folder, c, &m, e);
}

// --- evidence ---

struct future_record {
	int64_t order;
	char name[EVIDENCE_FILE_NAME];
	uint8_t first;
};

struct repaired_evidence {
	const char *folder;
	struct place_folder *open;
	uint8_t first;
	int64_t limit; // nanoseconds
	struct future_record *record;
	size_t records, room;
};

static void repaired_evidence_release(struct repaired_evidence *r)
{
	free(r->record);
}

// What cannot be read is damaged, which the scan says.
static int look_at_file(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	struct repaired_evidence *r = ctx;
	struct err ignored = ERR_INIT;
	uint8_t id[SHA256_SIZE];
	int64_t order;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, EVIDENCE_FILE_MOST);
	if (!evidence_file_is(name, id) || record_read(r->open, name, EVIDENCE_FILE_MOST, &text, &ignored) < 0 ||
		!evidence_file_order(buf_view(&text), &order) || order <= r->limit)
		return 0;
	GROW(r->record, r->records, r->room);
	struct future_record *one = &r->record[r->records++];
	*one = (struct future_record){.order = order, .first = r->first};
	memcpy(one->name, name, EVIDENCE_FILE_NAME);
	return 0;
}

static struct place_folder *open_part_of(const char *folder, uint8_t first, struct err *e)
{
	char below[EVIDENCE_FILE_FOLDER];
	evidence_file_folder(first, below);
	return record_folder(folder, below, false, e);
}

static int find_future_records(struct repaired_evidence *r, struct err *e)
{
	for (int i = 0; i < FOLDERS; i++) {
		struct err why = ERR_INIT;
		r->first = (uint8_t)i;
		CLEANUP(place_folder_close) struct place_folder *open = r->open = open_part_of(r->folder, r->first, &why);
		if (!open && why.kind == ERR_NOT_FOUND)
			continue;
		if (!open) {
			*e = why;
			return -1;
		}
		if (place_list(open, look_at_file, r, e) < 0)
			return -1;
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct future_record *x = a, *y = b;
	return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : strcmp(y->name, x->name);
}

int views_repair_evidence(const char *folder, struct catalog *c, bool dry_run, uint64_t *records, struct err *e)
{
	CLEANUP(repaired_evidence_release)
	struct repaired_evidence r = {.folder = folder, .limit = views_repair_limit() * SECOND};
	if (find_future_records(&r, e) < 0)
		return -1;
	*records = r.records;
	if (!r.records || dry_run)
		return 0;
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if (views_write_enter(folder, &hold, e) < 0)
		return -1;
	qsort(r.record, r.records, sizeof(*r.record), by_order);
	int64_t order = clock_wall_ns() - (int64_t)r.records;
	for (size_t i = 0; i < r.records; i++) {
		CLEANUP(place_folder_close) struct place_folder *open = open_part_of(folder, r.record[i].first, e);
		if (!open || evidence_file_retime(open, r.record[i].name, order + (int64_t)i, c, e) < 0)
			return -1;
	}
	return 0;
}

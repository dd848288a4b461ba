// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/arrivals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/format/jsonmap.h"
#include "lib/place/record.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/state-files.h"

enum {
	ROWS = 10000, // of one record
	RECORD_MOST = 16 << 20,
	VALUES_MOST = 8 * ROWS,
	TOGETHER = 1000, // records, until all is written again
	DIGITS = 10,     // of the name of a record
};

// --- a record ---

#define ARRIVAL struct arrival
static const struct jsonmap_field arrival_fields[] = {
	JSONMAP_TEXT("platform", ARRIVAL, platform, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("name", ARRIVAL, name, .limit = LIMIT_FILE_NAME),
	JSONMAP_SHA256("sha256", ARRIVAL, sha256, .has = offsetof(ARRIVAL, is_file), .absent = JSONMAP_OMITTED),
	JSONMAP_TIME("arrived", ARRIVAL, arrived),
};
static const struct jsonmap arrival_map = JSONMAP(ARRIVAL, arrival_fields);
static const struct jsonmap_field arrivals_fields[] = {
	JSONMAP_LIST("arrivals", struct arrivals, item, count, &arrival_map, .limit = ROWS),
};
static const struct jsonmap arrivals_map = JSONMAP(struct arrivals, arrivals_fields);

void arrivals_write(const struct arrivals *a, struct buf *out)
{
	jsonmap_write(&arrivals_map, a, out);
}

int arrivals_read(struct str json, struct arrivals *out, struct arena *text, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, VALUES_MOST, e);
	return doc ? jsonmap_read(&arrivals_map, doc, out, text, e) : -1;
}

// --- its folder ---

static struct place_folder *open_folder_of(const struct catalog *c, bool make, struct err *e)
{
	CLEANUP(mem_free) char *path = state_file_noted(catalog_path(c), STATE_FILE_ARRIVALS);
	return record_secret_folder(path, "", make, e);
}

static int note_record_name(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	if (strlen(name) == DIGITS && strspn(name, "0123456789") == DIGITS)
		strset_add(ctx, name);
	return 0;
}

static int take_row(struct catalog *c, const struct arrival *a, struct err *e)
{
	return catalog_run_by(c, CAME_TAKE, BY(SQL_TEXT(a->platform), SQL_TEXT(a->name),
		SQL_BYTES(a->sha256, a->is_file ? SHA256_SIZE : 0), SQL_INT(a->arrived)), e);
}

// 1: all of it is in the table; 0: it cannot be read.
static int take_record(struct catalog *c, struct place_folder *folder, const char *name, struct err *e)
{
	struct err why = ERR_INIT;
	struct arrivals a;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(buf_release) struct buf json;
	buf_init(&json, RECORD_MOST);
	if (record_read(folder, name, RECORD_MOST, &json, &why) < 0 || arrivals_read(buf_view(&json), &a, &text, &why) < 0) {
		log_warn("times of arrival: record %s is left out: %s", name, why.msg);
		return 0;
	}
	for (size_t i = 0; i < a.count; i++)
		if (take_row(c, &a.item[i], e) < 0)
			return -1;
	return 1;
}

// Puts what the table does not have into it, from the newest record on. taken: gets the names of the records; NULL: nothing.
static int take_records(struct catalog *c, struct strset *taken, struct err *e)
{
	struct err missing = ERR_INIT;
	uint64_t newest = 0;
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(place_folder_close) struct place_folder *folder = open_folder_of(c, false, &missing);
	if (!folder && err_unless_missing(e, &missing) < 0)
		return -1;
	if (folder && record_names(folder, note_record_name, &names, e) < 0)
		return -1;
	strset_sort(&names);
	for (size_t i = names.count; i-- > 0;) {
		int is_taken = take_record(c, folder, names.item[i], e);
		if (is_taken < 0)
			return -1;
		if (is_taken && taken)
			strset_add(taken, names.item[i]);
	}
	if (names.count && !decimal_parse(str_from(names.item[names.count - 1]), INT64_MAX, &newest))
		newest = 0;
	return catalog_run_by(c, CAME_SET_NUMBER, BY(SQL_INT(newest)), e);
}

int arrivals_load(struct catalog *c, struct err *e)
{
	int64_t number = 0;
	if (catalog_int_by(c, CAME_NUMBER, NULL, 0, &number, e) < 0)
		return -1;
	return number < 0 ? take_records(c, NULL, e) : 0;
}

// --- saving ---

struct arrivals_batch {
	struct arena text;
	struct arrival *item;
	size_t count, room;
};

static void batch_release(struct arrivals_batch *b)
{
	arena_release(&b->text);
}

static int read_batch(struct catalog *c, struct arrivals_batch *b, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, CAME_UNSAVED, BY(SQL_INT(ROWS)), e);
	int row = q ? 1 : -1;
	while (row > 0 && (row = query_step(q, e)) > 0) {
		const uint8_t *sha256 = query_sha256(q, 2);
		ARENA_GROW(&b->text, b->item, b->count, b->room);
		struct arrival *a = &b->item[b->count++];
		*a = (struct arrival){.platform = arena_strdup(&b->text, query_text(q, 0)),
			.name = arena_strdup(&b->text, query_text(q, 1)),
			.is_file = sha256 != NULL,
			.arrived = query_int(q, 3)};
		if (sha256)
			memcpy(a->sha256, sha256, SHA256_SIZE);
	}
	return row;
}

static int mark_saved(struct catalog *c, const struct arrivals_batch *b, struct err *e)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct arrival *a = &b->item[i];
		if (catalog_run_by(c, CAME_SAVED, BY(SQL_TEXT(a->platform), SQL_TEXT(a->name),
			    SQL_BYTES(a->sha256, a->is_file ? SHA256_SIZE : 0)), e) < 0)
			return -1;
	}
	return 0;
}

// Another catalog of this state may have written records meanwhile.
static int create_record(struct place_folder *folder, struct str text, int64_t *number, struct err *e)
{
	for (;;) {
		struct err taken = ERR_INIT;
		char name[DIGITS + 12];
		snprintf(name, sizeof(name), "%0*" PRId64, DIGITS, ++*number);
		if (record_create(folder, name, text, &taken) == 0)
			return 0;
		if (taken.kind != ERR_CONFLICT) {
			*e = taken;
			return -1;
		}
	}
}

static int write_batch(struct catalog *c, const struct arrivals_batch *b, int64_t *number, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(place_folder_close) struct place_folder *folder = open_folder_of(c, true, e);
	buf_init(&text, RECORD_MOST);
	arrivals_write(&(struct arrivals){b->item, b->count}, &text);
	if (!folder || catalog_int_by(c, CAME_NUMBER, NULL, 0, number, e) < 0 ||
		create_record(folder, buf_view(&text), number, e) < 0)
		return err_prefix(e, "times of arrival: ");
	return mark_saved(c, b, e) < 0 ? -1 : catalog_run_by(c, CAME_SET_NUMBER, BY(SQL_INT(*number)), e);
}

// *number: of the newest record; 0: none was written.
static int save_rows(struct catalog *c, int64_t *number, struct err *e)
{
	for (size_t count = ROWS; count == ROWS;) {
		CLEANUP(batch_release) struct arrivals_batch b = {0};
		if (read_batch(c, &b, e) < 0 || (b.count && write_batch(c, &b, number, e) < 0))
			return -1;
		count = b.count;
	}
	return 0;
}

static int write_all_again(struct catalog *c, struct err *e)
{
	int64_t number = 0;
	CLEANUP(strset_release) struct strset taken = {0};
	if (take_records(c, &taken, e) < 0 || catalog_run(c, CAME_FORGET_GONE, e) < 0 ||
		catalog_run(c, CAME_SAVE_ALL, e) < 0 || save_rows(c, &number, e) < 0)
		return -1;
	CLEANUP(place_folder_close) struct place_folder *folder = open_folder_of(c, false, e);
	for (size_t i = 0; folder && i < taken.count; i++)
		if (place_remove(folder, taken.item[i], NULL, e) < 0)
			return -1;
	return folder ? 0 : -1;
}

int arrivals_save(struct catalog *c, struct err *e)
{
	int64_t number = 0;
	if (save_rows(c, &number, e) < 0)
		return -1;
	return number && number % TOGETHER == 0 ? write_all_again(c, e) : 0;
}

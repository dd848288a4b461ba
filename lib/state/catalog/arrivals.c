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
#include "lib/os/clock.h"
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
	LISTED_AGAIN = 10, // times, while another process writes all again
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

struct place_folder *arrivals_folder(const struct catalog *c, bool make, struct err *e)
{
	CLEANUP(mem_free) char *path = state_file_noted(catalog_path(c), STATE_FILE_ARRIVALS);
	return record_secret_folder(path, "", make, e);
}

#define KEY_AND(a, value)                                                                                              \
	BY(SQL_TEXT((a)->platform), SQL_TEXT((a)->name), SQL_BYTES((a)->sha256, (a)->is_file ? SHA256_SIZE : 0),       \
		SQL_INT(value))

// NUMBER.TIME.
static int note_record_name(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	if (strspn(name, "0123456789") == DIGITS && (!name[DIGITS] || name[DIGITS] == '.'))
		strset_add(ctx, name);
	return 0;
}

static int64_t record_number(const char *name)
{
	uint64_t number = 0;
	return decimal_parse(str_slice(str_from(name), 0, DIGITS), INT64_MAX, &number) ? (int64_t)number : 0;
}

// Sorted: from the oldest to the newest.
static int list_records(const struct catalog *c, struct strset *names, struct place_folder **folder, struct err *e)
{
	struct err missing = ERR_INIT;
	*folder = arrivals_folder(c, false, &missing);
	if (!*folder)
		return err_unless_missing(e, &missing);
	int listed = record_names(*folder, note_record_name, names, e);
	strset_sort(names);
	return listed;
}

enum taken { TAKEN_FAILED = -1, TAKEN_DAMAGED, TAKEN_ALL, TAKEN_GONE };

// Puts what the table does not have into it.
static enum taken take_record(struct catalog *c, struct place_folder *folder, const char *name, struct err *e)
{
	struct err why = ERR_INIT;
	struct arrivals a;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(buf_release) struct buf json;
	buf_init(&json, RECORD_MOST);
	if (record_read(folder, name, RECORD_MOST, &json, &why) < 0 || arrivals_read(buf_view(&json), &a, &text, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return TAKEN_GONE;
		log_warn("times of arrival: record %s is left out: %s", name, why.msg);
		return TAKEN_DAMAGED;
	}
	for (size_t i = 0; i < a.count; i++)
		if (catalog_run_by(c, CAME_TAKE, KEY_AND(&a.item[i], a.item[i].arrived), e) < 0)
			return TAKEN_FAILED;
	return TAKEN_ALL;
}

// From the newest on. taken: gets the names of those that are not damaged; NULL: nothing.
static enum taken take_all(struct catalog *c, struct place_folder *folder, const struct strset *names, struct strset *taken,
	struct err *e)
{
	for (size_t i = names->count; i-- > 0;) {
		enum taken one = take_record(c, folder, names->item[i], e);
		if (one == TAKEN_FAILED || one == TAKEN_GONE)
			return one;
		if (one == TAKEN_ALL && taken)
			strset_add(taken, names->item[i]);
	}
	return TAKEN_ALL;
}

// 1: done; 0: another process writes all again at this moment.
static int take_records(struct catalog *c, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (list_records(c, &names, &folder, e) < 0)
		return -1;
	enum taken all = take_all(c, folder, &names, NULL, e);
	if (all != TAKEN_ALL)
		return all == TAKEN_GONE ? 0 : -1;
	int64_t newest = names.count ? record_number(names.item[names.count - 1]) : 0;
	return catalog_run_by(c, CAME_SET_NUMBER, BY(SQL_INT(newest)), e) < 0 ? -1 : 1;
}

int arrivals_load(struct catalog *c, struct err *e)
{
	int64_t number = 0;
	if (catalog_int_by(c, CAME_NUMBER, NULL, 0, &number, e) < 0)
		return -1;
	int done = number < 0 ? 0 : 1;
	for (int i = 0; done == 0 && i < LISTED_AGAIN; i++)
		done = take_records(c, e);
	return done > 0 ? 0 : done < 0 ? -1 : err_set(e, ERR_IO, "times of arrival: records that are listed are not there");
}

// --- saving ---

void arrivals_release(struct arrivals_unsaved *u)
{
	arena_release(&u->text);
}

// q: platform, name, hash, time.
static int read_rows(struct query *q, struct arrivals_unsaved *u, struct err *e)
{
	CLEANUP(query_end) struct query *open = q;
	int row = open ? 1 : -1;
	while (row > 0 && (row = query_step(open, e)) > 0) {
		const uint8_t *sha256 = query_sha256(open, 2);
		ARENA_GROW(&u->text, u->item, u->count, u->room);
		struct arrival *a = &u->item[u->count++];
		*a = (struct arrival){.platform = arena_strdup(&u->text, query_text(open, 0)),
			.name = arena_strdup(&u->text, query_text(open, 1)),
			.is_file = sha256 != NULL,
			.arrived = query_int(open, 3)};
		if (sha256)
			memcpy(a->sha256, sha256, SHA256_SIZE);
	}
	return row;
}

static int64_t number_for(const struct arrivals_unsaved *u, size_t row)
{
	return u->before + 1 + (int64_t)(row / ROWS);
}

int arrivals_collect(struct catalog *c, struct arrivals_unsaved *u, struct err *e)
{
	if (read_rows(catalog_query(c, CAME_UNSAVED, e), u, e) < 0)
		return -1;
	if (!u->count)
		return 0;
	if (catalog_int_by(c, CAME_NUMBER, NULL, 0, &u->before, e) < 0)
		return -1;
	for (size_t i = 0; i < u->count; i++)
		if (catalog_run_by(c, CAME_SAVED, KEY_AND(&u->item[i], number_for(u, i)), e) < 0)
			return -1;
	return catalog_run_by(c, CAME_SET_NUMBER, BY(SQL_INT(number_for(u, u->count - 1))), e);
}

// The time makes it another name than another catalog of this state takes.
static int create_record(struct place_folder *folder, int64_t number, const struct arrival *item, size_t count, struct err *e)
{
	char name[DIGITS + 48];
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, RECORD_MOST);
	arrivals_write(&(struct arrivals){item, count}, &text);
	snprintf(name, sizeof(name), "%0*" PRId64 ".%" PRId64, DIGITS, number, clock_wall_ns());
	return record_create(folder, name, buf_view(&text), e);
}

static int create_records(struct place_folder *folder, const struct arrivals_unsaved *u, struct err *e)
{
	for (size_t i = 0, count; folder && i < u->count; i += count) {
		count = u->count - i < ROWS ? u->count - i : ROWS;
		if (create_record(folder, number_for(u, i), &u->item[i], count, e) < 0)
			return -1;
	}
	return folder ? 0 : -1;
}

// --- writing all again ---

static int forget_gone(struct catalog *c, struct err *e)
{
	CLEANUP(arrivals_release) struct arrivals_unsaved gone = {0};
	if (read_rows(catalog_query(c, CAME_GONE, e), &gone, e) < 0)
		return -1;
	for (size_t i = 0; i < gone.count; i++)
		if (catalog_run_by(c, CAME_FORGET, KEY_AND(&gone.item[i], gone.item[i].arrived), e) < 0)
			return -1;
	return 0;
}

// Parts of one record: those that are written meanwhile have higher numbers, and so are newer.
static int write_whole_table(struct catalog *c, struct place_folder *folder, int64_t number, struct err *e)
{
	struct arrivals_unsaved read[2] = {{.item = &(struct arrival){.platform = "", .name = ""}, .count = 1}};
	int written = 0;
	for (unsigned i = 0; written == 0 && read[i].count; i ^= 1) {
		struct arrivals_unsaved *next = &read[i ^ 1];
		arrivals_release(next);
		*next = (struct arrivals_unsaved){0};
		written = read_rows(catalog_query_by(c, CAME_AFTER, KEY_AND(&read[i].item[read[i].count - 1], ROWS), e), next, e);
		if (written == 0 && next->count)
			written = create_record(folder, number, next->item, next->count, e);
	}
	arrivals_release(&read[0]);
	arrivals_release(&read[1]);
	return written;
}

// Not in a transaction, because thousands of files are read and removed. What another process is at, it leaves.
static int write_all_again(struct catalog *c, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0}, taken = {0};
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (list_records(c, &names, &folder, e) < 0)
		return -1;
	enum taken all = take_all(c, folder, &names, &taken, e);
	if (all != TAKEN_ALL)
		return all == TAKEN_GONE ? 0 : -1;
	if (taken.count && (forget_gone(c, e) < 0 || write_whole_table(c, folder, record_number(taken.item[0]), e) < 0))
		return -1;
	for (size_t i = 0; i < taken.count; i++)
		if (place_remove(folder, taken.item[i], NULL, e) < 0)
			return -1;
	return 0;
}

int arrivals_save(struct catalog *c, const struct arrivals_unsaved *u, struct err *e)
{
	struct err why = ERR_INIT;
	if (!u->count)
		return 0;
	CLEANUP(place_folder_close) struct place_folder *folder = arrivals_folder(c, true, e);
	if (create_records(folder, u, e) < 0) {
		e->kind = e->kind == ERR_FULL ? ERR_FULL : ERR_IO; // what the transaction has added is there, not refused
		return err_prefix(e, "times of arrival: ");
	}
	if (number_for(u, u->count - 1) / TOGETHER > u->before / TOGETHER && write_all_again(c, &why) < 0)
		log_warn("times of arrival stay in many records: %s", why.msg);
	return 0;
}

int arrivals_check(struct catalog *c, bool mends, struct err *e)
{
	int64_t missing = 0;
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	CLEANUP(buf_release) struct buf numbers;
	buf_init(&numbers, RECORD_MOST);
	if (list_records(c, &names, &folder, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		buf_printf(&numbers, " %.*s", DIGITS, names.item[i]);
	buf_putc(&numbers, '\0');
	int64_t lowest = names.count ? record_number(names.item[0]) : 0;
	if (catalog_int_by(c, mends ? CAME_MEND : CAME_CHECK, BY(SQL_INT(lowest), SQL_TEXT(numbers.data)), &missing, e) < 0)
		return -1;
	return missing != 0;
}

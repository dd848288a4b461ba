// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-told.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/jsonmap.h"
#include "lib/place/record.h"
#include "lib/state/catalog/arrivals.h"
#include "lib/state/catalog/catalog-query.h"

// Before the end of the transaction the record is to be replaced.
static int note_told(struct catalog *c, struct err *e)
{
	return catalog_run_by(c, TOLD_SET, BY(SQL_INT(0)), e);
}

// --- what views expect ---

static struct query *query_expected(struct catalog *c, enum statement id, const struct catalog_expected *row,
	struct err *e)
{
	const char *const text[] = {row->view, row->kind, row->platform, row->python};
	struct query *q = catalog_query(c, id, e);
	for (size_t i = 0; q && i < ARRAY_SIZE(text); i++)
		query_bind_text(q, (int)i + 1, text[i]);
	return q;
}

int catalog_expected_find(struct catalog *c, struct catalog_expected *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_expected(c, EXPECTED_FIND, row, e);
	int found = query_step(q, e);
	if (found <= 0)
		return found;
	row->known = query_int(q, 0);
	row->newest = query_int(q, 1);
	row->is_silent = query_int(q, 2) != 0;
	return 1;
}

int catalog_expected_put(struct catalog *c, const struct catalog_expected *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_expected(c, EXPECTED_PUT, row, e);
	query_bind_int(q, 5, row->known);
	query_bind_int(q, 6, row->newest);
	query_bind_int(q, 7, row->is_silent);
	return query_run(q, e) < 0 ? -1 : note_told(c, e);
}

// --- what the store has lost ---

int catalog_lost_list(struct catalog *c, const char *view, catalog_lost_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, view ? LOST_LIST : LOST_ALL, e);
	int row;
	if (q && view)
		query_bind_text(q, 1, view);
	while ((row = query_step(q, e)) > 0) {
		struct catalog_lost lost = {query_text(q, 0), query_text(q, 1), query_text(q, 2), {0}, query_int(q, 4)};
		const uint8_t *sha256 = query_sha256(q, 3);
		if (sha256)
			memcpy(lost.sha256, sha256, SHA256_SIZE);
		if (sha256 && fn(ctx, &lost, e) < 0)
			return -1;
	}
	return row;
}

// To the end, so that what RETURNING belongs to is done. 1: a row was written; 0: none.
static int write_lost(struct catalog *c, enum statement id, const struct catalog_lost *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, id, BY(SQL_TEXT(row->view), SQL_TEXT(row->platform),
		SQL_TEXT(row->filename), SQL_SHA256(row->sha256)), e);
	if (id == LOST_PUT)
		query_bind_int(q, 5, row->since);
	int written = query_step(q, e), end = written;
	while (end > 0)
		end = query_step(q, e);
	return end < 0 || (written && note_told(c, e) < 0) ? -1 : written;
}

int catalog_lost_put(struct catalog *c, const struct catalog_lost *row, struct err *e)
{
	return write_lost(c, LOST_PUT, row, e);
}

int catalog_lost_remove(struct catalog *c, const struct catalog_lost *row, struct err *e)
{
	return write_lost(c, LOST_REMOVE, row, e);
}

// --- what has expired ---

int catalog_retained_put(struct catalog *c, const struct catalog_retained *row, struct err *e)
{
	return catalog_run_by(c, RETAINED_PUT, BY(SQL_TEXT(row->view), SQL_INT(row->looked), SQL_INT(row->ended),
		       SQL_INT(row->ending), SQL_INT(row->stale), SQL_INT(row->in_doubt)), e) < 0
		       ? -1
		       : note_told(c, e);
}

int catalog_retained(struct catalog *c, catalog_retained_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, RETAINED_LIST, e);
	int found;
	while ((found = query_step(q, e)) > 0) {
		const struct catalog_retained row = {query_text(q, 0), query_int(q, 1), (uint64_t)query_int(q, 2),
			(uint64_t)query_int(q, 3), (uint64_t)query_int(q, 4), query_int(q, 5) != 0};
		if (fn(ctx, &row, e) < 0)
			return -1;
	}
	return found;
}

// --- the record ---

enum {
	ROWS = 10000, // of a kind
	RECORD_MOST = 32 << 20,
	VALUES_MOST = 30 * ROWS,
};
static const char record_name[] = "told";

#define RETAINED struct catalog_retained
static const struct jsonmap_field retained_fields[] = {
	JSONMAP_TEXT("view", RETAINED, view, .limit = LIMIT_FILE_NAME),
	JSONMAP_INTEGER("looked", RETAINED, looked),
	JSONMAP_INTEGER("ended", RETAINED, ended),
	JSONMAP_INTEGER("ending", RETAINED, ending),
	JSONMAP_INTEGER("stale", RETAINED, stale),
	JSONMAP_BOOL("doubt", RETAINED, in_doubt),
};
#define EXPECTED struct catalog_expected
static const struct jsonmap_field expected_fields[] = {
	JSONMAP_TEXT("view", EXPECTED, view, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("kind", EXPECTED, kind, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("platform", EXPECTED, platform, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("python", EXPECTED, python, .limit = LIMIT_FILE_NAME),
	JSONMAP_INTEGER("known", EXPECTED, known),
	JSONMAP_INTEGER("newest", EXPECTED, newest),
	JSONMAP_BOOL("silent", EXPECTED, is_silent),
};
#define LOST struct catalog_lost
static const struct jsonmap_field lost_fields[] = {
	JSONMAP_TEXT("view", LOST, view, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("platform", LOST, platform, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("filename", LOST, filename, .limit = LIMIT_FILE_NAME),
	JSONMAP_SHA256("sha256", LOST, sha256),
	JSONMAP_INTEGER("since", LOST, since),
};
static const struct jsonmap retained_map = JSONMAP(RETAINED, retained_fields);
static const struct jsonmap expected_map = JSONMAP(EXPECTED, expected_fields);
static const struct jsonmap lost_map = JSONMAP(LOST, lost_fields);
static const struct jsonmap_field told_fields[] = {
	JSONMAP_LIST("retained", struct told_record, retained, retaineds, &retained_map, .limit = ROWS),
	JSONMAP_LIST("expected", struct told_record, expected, expecteds, &expected_map, .limit = ROWS),
	JSONMAP_LIST("lost", struct told_record, lost, losts, &lost_map, .limit = ROWS),
};
static const struct jsonmap told_map = JSONMAP(struct told_record, told_fields);

void told_write(const struct told_record *t, struct buf *out)
{
	jsonmap_write(&told_map, t, out);
}

int told_read(struct str json, struct told_record *out, struct arena *text, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, VALUES_MOST, e);
	return doc ? jsonmap_read(&told_map, doc, out, text, e) : -1;
}

static int put_all(struct catalog *c, const struct told_record *t, struct err *e)
{
	for (size_t i = 0; i < t->retaineds; i++)
		if (catalog_retained_put(c, &t->retained[i], e) < 0)
			return -1;
	for (size_t i = 0; i < t->expecteds; i++)
		if (catalog_expected_put(c, &t->expected[i], e) < 0)
			return -1;
	for (size_t i = 0; i < t->losts; i++)
		if (catalog_lost_put(c, &t->lost[i], e) < 0)
			return -1;
	return 0;
}

// 1: *out has what the record says; 0: there is none.
static int read_record(const struct catalog *c, struct told_record *out, struct arena *text, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf json;
	CLEANUP(place_folder_close) struct place_folder *folder = arrivals_folder(c, false, &why);
	buf_init(&json, RECORD_MOST);
	if (!folder)
		return err_unless_missing(e, &why);
	if (record_read(folder, record_name, RECORD_MOST, &json, &why) == 0 && told_read(buf_view(&json), out, text, &why) == 0)
		return 1;
	if (why.kind != ERR_NOT_FOUND)
		log_warn("what views were told of is left out: %s", why.msg);
	return 0;
}

int told_load(struct catalog *c, struct err *e)
{
	int64_t state = 0;
	struct told_record t = {0};
	CLEANUP(arena_release) struct arena text = {0};
	if (catalog_int_by(c, TOLD_GET, NULL, 0, &state, e) < 0)
		return -1;
	if (state >= 0)
		return 0;
	int found = read_record(c, &t, &text, e);
	if (found < 0 || put_all(c, &t, e) < 0)
		return -1;
	return found ? catalog_run_by(c, TOLD_SET, BY(SQL_INT(1)), e) : catalog_run(c, TOLD_SET_NEW, e);
}

// What the record will say.
struct told_rows {
	struct told_record told;
	struct arena text;
	size_t retained_room, expected_room, lost_room;
	bool is_cut; // there is more than it takes
};

static void told_rows_release(struct told_rows *t)
{
	arena_release(&t->text);
}

static const char *kept_text(struct told_rows *t, const char *value)
{
	return arena_strdup(&t->text, value ? value : "");
}

static bool has_room_for(struct told_rows *t, size_t count)
{
	t->is_cut = t->is_cut || count >= ROWS;
	return count < ROWS;
}

static int keep_retained(void *ctx, const struct catalog_retained *row, struct err *e UNUSED)
{
	struct told_rows *t = ctx;
	struct told_record *told = &t->told;
	if (!has_room_for(t, told->retaineds))
		return 0;
	ARENA_GROW(&t->text, told->retained, told->retaineds, t->retained_room);
	told->retained[told->retaineds] = *row;
	told->retained[told->retaineds++].view = kept_text(t, row->view);
	return 0;
}

static int keep_expected(struct catalog *c, struct told_rows *t, struct err *e)
{
	struct told_record *told = &t->told;
	CLEANUP(query_end) struct query *q = catalog_query(c, EXPECTED_LIST, e);
	int row;
	while ((row = query_step(q, e)) > 0 && has_room_for(t, told->expecteds)) {
		ARENA_GROW(&t->text, told->expected, told->expecteds, t->expected_room);
		told->expected[told->expecteds++] = (struct catalog_expected){kept_text(t, query_text(q, 0)),
			kept_text(t, query_text(q, 1)), kept_text(t, query_text(q, 2)), kept_text(t, query_text(q, 3)),
			query_int(q, 4), query_int(q, 5), query_int(q, 6) != 0};
	}
	return row;
}

static int keep_lost(void *ctx, const struct catalog_lost *row, struct err *e UNUSED)
{
	struct told_rows *t = ctx;
	struct told_record *told = &t->told;
	if (!has_room_for(t, told->losts))
		return 0;
	ARENA_GROW(&t->text, told->lost, told->losts, t->lost_room);
	struct catalog_lost *l = &told->lost[told->losts++];
	*l = *row;
	l->view = kept_text(t, row->view);
	l->platform = kept_text(t, row->platform);
	l->filename = kept_text(t, row->filename);
	return 0;
}

// Changes are few, so that it may take its time within the transaction.
int told_save(struct catalog *c, struct err *e)
{
	int64_t state = 0;
	CLEANUP(told_rows_release) struct told_rows t = {0};
	CLEANUP(buf_release) struct buf json;
	buf_init(&json, RECORD_MOST);
	if (catalog_int_by(c, TOLD_GET, NULL, 0, &state, e) < 0)
		return -1;
	if (state != 0)
		return 0;
	if (catalog_retained(c, keep_retained, &t, e) < 0 || keep_expected(c, &t, e) < 0 ||
		catalog_lost_list(c, NULL, keep_lost, &t, e) < 0)
		return -1;
	if (t.is_cut)
		log_warn("views have more than %d things of a kind to be told of: of the further ones they are told again if the "
			 "catalog is lost",
			ROWS);
	told_write(&t.told, &json);
	CLEANUP(place_folder_close) struct place_folder *folder = arrivals_folder(c, true, e);
	if (!folder || record_replace(folder, record_name, buf_view(&json), e) < 0)
		return err_prefix(e, "what views were told of: ");
	return catalog_run_by(c, TOLD_SET, BY(SQL_INT(1)), e);
}

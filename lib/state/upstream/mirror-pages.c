// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror-pages.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/format/base64.h"
#include "lib/format/jsonmap.h"
#include "lib/place/record.h"
#include "lib/state/upstream/mirror-pins.h"

enum { VALUES_OF_ROW = 16 };
static const char pages_folder[] = "_pages"; // no name of a mirror

// --- the form ---

struct page_record_row {
	const char *source, *result, *why, *last_definitive, *etag;
	const char *page; // packed, base64; NULL: none
	int64_t asked, fetched, max_age, certain, had_since;
};
struct page_record {
	struct page_record_row *row;
	size_t rows;
};

static const struct jsonmap_field page_row_fields[] = {
	JSONMAP_TEXT("source", struct page_record_row, source),
	JSONMAP_TEXT("result", struct page_record_row, result),
	JSONMAP_TEXT("why", struct page_record_row, why, .is_sentence = true),
	JSONMAP_TEXT("last-definitive", struct page_record_row, last_definitive, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("etag", struct page_record_row, etag, .absent = JSONMAP_OMITTED),
	JSONMAP_INTEGER("asked", struct page_record_row, asked),
	JSONMAP_INTEGER("fetched", struct page_record_row, fetched),
	JSONMAP_INTEGER("max-age", struct page_record_row, max_age, .least = -1),
	JSONMAP_INTEGER("certain", struct page_record_row, certain),
	JSONMAP_INTEGER("had-since", struct page_record_row, had_since),
	JSONMAP_TEXT("page", struct page_record_row, page, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap page_row_map = JSONMAP(struct page_record_row, page_row_fields);
static const struct jsonmap_field page_record_fields[] = {
	JSONMAP_LIST("rows", struct page_record, row, rows, &page_row_map, .limit = LIMIT_UPSTREAM_INDEXES),
};
static const struct jsonmap page_record_map = JSONMAP(struct page_record, page_record_fields);

// --- rows of the catalog ---

struct page_keeping {
	struct page_record record;
	size_t room;
	struct arena text;
};

static int keep_page_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct page_keeping *k = ctx;
	CLEANUP(buf_release) struct buf page = buf_up_to(SIZE_MAX / 2);
	if (k->record.rows == LIMIT_UPSTREAM_INDEXES) // those of indexes that are no longer configured
		return 0;
	base64_encode((const uint8_t *)found->page.ptr, found->page.len, BASE64_PLAIN, &page);
	ARENA_GROW(&k->text, k->record.row, k->record.rows, k->room);
	k->record.row[k->record.rows++] = (struct page_record_row){
		.source = arena_strdup(&k->text, found->source),
		.result = arena_strdup(&k->text, found->result),
		.why = arena_strdup(&k->text, found->why),
		.last_definitive = arena_strdup(&k->text, found->last_definitive),
		.etag = arena_strdup(&k->text, found->etag),
		.page = page.len ? arena_copy(&k->text, buf_view(&page)) : NULL,
		.asked = found->asked,
		.fetched = found->fetched,
		.max_age = found->max_age,
		.certain = found->certain,
		.had_since = found->had_since,
	};
	return 0;
}

// --- reading ---

static int tell_page_row(const char *project, const struct page_record_row *row, catalog_upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct str text = str_from(row->page ? row->page : "");
	size_t size = base64_size(text);
	CLEANUP(mem_free) uint8_t *page = xcalloc(size + 1, 1);
	const struct catalog_upstream found = {
		.project = project,
		.source = row->source,
		.result = row->result,
		.why = row->why,
		.last_definitive = row->last_definitive,
		.etag = row->etag,
		.asked = row->asked,
		.fetched = row->fetched,
		.max_age = row->max_age,
		.certain = row->certain,
		.had_since = row->had_since,
		.page = {(const char *)page, size},
	};
	return base64_decode(text, BASE64_PLAIN, page) ? fn(ctx, &found, e) : 0;
}

static int parse_page_record(struct str json, struct page_record *out, struct arena *text, struct err *e)
{
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_UPSTREAM_INDEXES * VALUES_OF_ROW, e);
	return doc ? jsonmap_read(&page_record_map, doc, out, text, e) : -1;
}

static int read_page_record(const char *path, const char *project, struct page_record *out, struct arena *text,
	struct err *e)
{
	CLEANUP(buf_release) struct buf json = buf_up_to(LIMIT_MIRROR);
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(path, pages_folder, false, e);
	if (!folder || record_read(folder, project, LIMIT_MIRROR, &json, e) < 0)
		return -1;
	return parse_page_record(buf_view(&json), out, text, e);
}

int mirror_pages_read(const char *path, const char *project, catalog_upstream_fn *fn, void *ctx, struct err *e)
{
	struct err why = ERR_INIT;
	struct arena text = {0};
	struct page_record record = {0};
	int result = name_is_valid(str_from(project)) ? read_page_record(path, project, &record, &text, &why) : 0;
	if (result < 0 && why.kind != ERR_NOT_FOUND)
		log_warn("the page of %s that mirrors keep cannot be read: %s", project, why.msg);
	size_t rows = result < 0 ? 0 : record.rows;
	result = 0;
	for (size_t i = 0; i < rows && result == 0; i++)
		result = tell_page_row(project, &record.row[i], fn, ctx, e);
	arena_release(&text);
	return result;
}

// --- keeping ---

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

// Whether only times differ: a fill that brings nothing new does not wait for the disk for each project.
static bool is_kept_record(const char *path, const char *project, const struct page_record *now)
{
	struct err ignored = ERR_INIT;
	struct arena text = {0};
	struct page_record kept = {0};
	bool is_same = read_page_record(path, project, &kept, &text, &ignored) == 0 && kept.rows == now->rows;
	for (size_t i = 0; i < now->rows && is_same; i++) {
		const struct page_record_row *x = &kept.row[i], *y = &now->row[i];
		is_same = is_same_text(x->source, y->source) && is_same_text(x->result, y->result) &&
			  is_same_text(x->last_definitive, y->last_definitive) && is_same_text(x->etag, y->etag) &&
			  is_same_text(x->page, y->page);
	}
	arena_release(&text);
	return is_same;
}

int mirror_pages_keep(const char *path, struct catalog *c, const char *project, struct err *e)
{
	struct page_keeping k = {0};
	CLEANUP(buf_release) struct buf json = buf_up_to(LIMIT_MIRROR);
	int result = catalog_upstream_rows(c, project, keep_page_row, &k, e);
	bool is_new = result == 0 && !is_kept_record(path, project, &k.record);
	if (is_new)
		jsonmap_write(&page_record_map, &k.record, &json);
	arena_release(&k.text);
	if (json.failed)
		return err_set(e, ERR_LIMIT, "upstream's page of %s is too large to be kept", project);
	if (!is_new)
		return result;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(path, pages_folder, true, e);
	return folder ? record_replace(folder, project, buf_view(&json), e) : -1;
}

// --- of another index ---

int mirror_pages_text(const char *path, const char *project, struct buf *out, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(path, pages_folder, false,
		&missing);
	if (folder && record_read(folder, project, LIMIT_MIRROR, out, &missing) == 0)
		return 1;
	return err_unless_missing(e, &missing);
}

static int64_t newest_fetch(const struct page_record *r)
{
	int64_t newest = 0;
	for (size_t i = 0; i < r->rows; i++)
		newest = r->row[i].fetched > newest ? r->row[i].fetched : newest;
	return newest;
}

struct page_taking {
	struct catalog *catalog;
	struct page_keeping known; // the rows of the catalog
};

static int put_newer_row(void *ctx, const struct catalog_upstream *found, struct err *e)
{
	int64_t changed;
	const struct page_taking *t = ctx;
	for (size_t i = 0; i < t->known.record.rows; i++) {
		const struct page_record_row *k = &t->known.record.row[i];
		if (strcmp(k->source, found->source) == 0 && k->fetched >= found->fetched)
			return 0;
	}
	return catalog_upstream_put(t->catalog, found, found->page.len > 0, true, &changed, e);
}

static int put_rows(struct page_taking *t, const char *project, const struct page_record *record, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction open = {0};
	if (catalog_begin(t->catalog, &open, e) < 0 ||
		catalog_upstream_rows(t->catalog, project, keep_page_row, &t->known, e) < 0)
		return -1;
	for (size_t i = 0; i < record->rows; i++)
		if (tell_page_row(project, &record->row[i], put_newer_row, t, e) < 0)
			return -1;
	return catalog_commit(&open, e);
}

static int take_page_record(const char *path, struct catalog *c, const char *project, struct str text,
	const struct page_record *record, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct page_record kept = {0};
	struct page_taking t = {.catalog = c};
	CLEANUP(arena_release) struct arena words = {0};
	bool is_kept = read_page_record(path, project, &kept, &words, &ignored) == 0;
	if (!is_kept || newest_fetch(&kept) < newest_fetch(record)) {
		CLEANUP(place_folder_close)
		struct place_folder *folder = record_secret_folder(path, pages_folder, true, e);
		if (!folder || record_replace(folder, project, text, e) < 0)
			return -1;
	}
	int put = put_rows(&t, project, record, e);
	arena_release(&t.known.text);
	return put;
}

int mirror_pages_take(const char *path, struct catalog *c, const char *project, struct str text, struct err *e)
{
	struct page_record record = {0};
	CLEANUP(arena_release) struct arena words = {0};
	if (parse_page_record(text, &record, &words, e) < 0)
		return err_prefix(e, "the page of %s: ", project);
	return c ? take_page_record(path, c, project, text, &record, e) : 0;
}

// --- sweeping ---

struct page_sweeping {
	struct place_folder *folder;
	struct mirror_pins *pins;
};

static int sweep_page(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	const struct page_sweeping *s = ctx;
	return mirror_pins_has_project(s->pins, name) || place_remove(s->folder, name, NULL, e) >= 0 ? 0 : -1;
}

int mirror_pages_sweep(const char *path, struct mirror_pins *pins, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(path, pages_folder, false,
		&missing);
	if (!folder)
		return err_unless_missing(e, &missing);
	struct page_sweeping s = {folder, pins};
	mirror_pins_look(pins);
	return mirror_pins_are_known(pins) ? record_names(folder, sweep_page, &s, e) : 0;
}

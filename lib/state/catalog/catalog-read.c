// SPDX-License-Identifier: Apache-2.0
// The queries of the server and the pages.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/compress.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/file-columns.h"

int catalog_platform_find(struct catalog *c, const char *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLATFORM_FIND, BY(SQL_TEXT(name)), e);
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no platform %s in the catalog", name);
	if (row > 0)
		*id = query_int(q, 0);
	return row < 0 ? -1 : 0;
}

int catalog_store(struct catalog *c, char **out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, STORE_GET, e);
	if (query_step(q, e) < 0)
		return -1;
	const char *recorded = query_text(q, 0);
	*out = recorded ? xstrdup(recorded) : NULL;
	return 0;
}

int catalog_is_of(struct catalog *c, const char *store, struct err *e)
{
	CLEANUP(mem_free) char *recorded = NULL;
	if (catalog_store(c, &recorded, e) < 0)
		return -1;
	if (recorded && strcmp(recorded, store) != 0)
		return err_set(e, ERR_USAGE,
			"catalog %s is of the store %s, not of %s; if [store] path has changed, a restart of the server "
			"or wheelcache index makes it again and keeps the tokens; otherwise name that store",
			catalog_path(c), recorded, store);
	return recorded ? 0 : 1;
}

int catalog_read_begin(struct catalog *c, struct err *e)
{
	return catalog_run(c, BEGIN_READ, e);
}

void catalog_read_end(struct catalog **c)
{
	struct err ignored = ERR_INIT; // nothing was written
	if (*c && catalog_run(*c, ROLLBACK_WRITE, &ignored) < 0)
		return;
}

int catalog_was_scanned(struct catalog *c, bool *scanned, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, SCANNED_GET, e);
	if (query_step(q, e) < 0)
		return -1;
	*scanned = query_int(q, 0) != 0;
	return 0;
}

int catalog_platform_scanned(struct catalog *c, int64_t platform, enum catalog_scanned *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLATFORM_SCANNED_GET, BY(SQL_INT(platform)), e);
	int row = query_step(q, e);
	*out = row > 0 ? (enum catalog_scanned)query_int(q, 0) : CATALOG_NOT_TRIED;
	return row < 0 ? -1 : 0;
}

int catalog_any_was_scanned(struct catalog *c, bool *scanned, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLATFORM_SCANNED_ANY, e);
	if (query_step(q, e) < 0)
		return -1;
	*scanned = query_int(q, 0) != 0;
	return 0;
}

static int each_listed_file(struct query *q, catalog_file_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_file file = {.filename = query_text(q, 0)}, *out = &file;
		int at = 1;
		FILE_COLUMNS(FILE_READ_PAGE)
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

// All files of a project. SQLite takes twice the time to sort them, as it packs and unpacks each row for that.
struct listed_files {
	struct catalog_file *row;
	size_t count, room;
	struct arena text; // of the rows
};

static void listed_files_release(struct listed_files *l)
{
	free(l->row);
	arena_release(&l->text);
}

static int list_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct listed_files *l = ctx;
	GROW(l->row, l->count, l->room);
	l->row[l->count] = *file;
	catalog_file_copy(&l->text, &l->row[l->count++]);
	return 0;
}

static int compare_listed(const void *a, const void *b)
{
	const struct catalog_file *const *x = a, *const *y = b;
	int order = str_cmp((*x)->version_key, (*y)->version_key);
	return order ? order : strcmp((*x)->filename, (*y)->filename);
}

int catalog_project_files(struct catalog *c, int64_t platform, const char *project, catalog_file_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(listed_files_release) struct listed_files l = {0};
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_FILES, BY(SQL_INT(platform),
		SQL_TEXT(project)), e);
	if (each_listed_file(q, list_file, &l, e) < 0)
		return -1;
	CLEANUP(mem_free) const struct catalog_file **sorted = xreallocarray(NULL, l.count + 1, sizeof(*sorted));
	for (size_t i = 0; i < l.count; i++)
		sorted[i] = &l.row[i];
	qsort(sorted, l.count, sizeof(*sorted), compare_listed);
	for (size_t i = 0; i < l.count; i++)
		if (fn(ctx, sorted[i], e) < 0)
			return -1;
	return 0;
}

int catalog_version_files(struct catalog *c, int64_t platform, const char *project, struct str version_key,
	catalog_file_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, VERSION_FILES, BY(SQL_INT(platform), SQL_TEXT(project),
		SQL_BYTES(version_key.ptr, version_key.len)), e);
	return each_listed_file(q, fn, ctx, e);
}

int catalog_newest_files(struct catalog *c, int64_t platform, const char *project, int64_t limit, catalog_file_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_NEWEST, BY(SQL_INT(platform),
		SQL_TEXT(project), SQL_INT(limit)), e);
	return each_listed_file(q, fn, ctx, e);
}

// Calls fn for each row of a query for projects. *newest: the largest change number; may be NULL.
static int each_project(struct query *q, catalog_project_fn *fn, void *ctx, int64_t *newest, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_project project = {
			.platform = query_int(q, 0),
			.project = query_text(q, 1),
			.files = (uint64_t)query_int(q, 2),
			.bytes = (uint64_t)query_int(q, 3),
			.newest = query_int(q, 5),
			.status = query_int(q, 6),
		};
		if (newest)
			*newest = query_int(q, 4);
		if (fn(ctx, &project, e) < 0)
			return -1;
	}
	return row;
}

int catalog_projects(struct catalog *c, int64_t platform, catalog_project_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_LIST, BY(SQL_INT(platform)), e);
	return each_project(q, fn, ctx, NULL, e);
}

int catalog_project_folder(struct catalog *c, int64_t platform, const char *project, char **folder, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PROJECT_FOLDER, e);
	*folder = NULL;
	query_bind_int(q, 1, platform);
	query_bind_text(q, 2, project);
	int row = query_step(q, e);
	if (row > 0)
		*folder = xstrdup(query_text(q, 0));
	return row < 0 ? -1 : 0;
}

int catalog_totals(struct catalog *c, int64_t platform, struct catalog_totals *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLATFORM_TOTALS, BY(SQL_INT(platform)), e);
	int row = query_step(q, e);
	*out = (struct catalog_totals){0};
	if (row <= 0)
		return row;
	*out = (struct catalog_totals){
		.projects = (uint64_t)query_int(q, 0),
		.files = (uint64_t)query_int(q, 1),
		.bytes = (uint64_t)query_int(q, 2),
		.quarantined = (uint64_t)query_int(q, 3),
	};
	return 0;
}

int catalog_usage(struct catalog *c, int64_t platform, struct catalog_usage *out, struct err *e)
{
	struct catalog_totals listed;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLATFORM_UNLISTED, BY(SQL_INT(platform)), e);
	if (query_step(q, e) < 0 || catalog_totals(c, platform, &listed, e) < 0)
		return -1;
	out->files = listed.files + (uint64_t)query_int(q, 0);
	out->bytes = listed.bytes + (uint64_t)query_int(q, 1);
	return 0;
}

int catalog_changes(struct catalog *c, int64_t since, catalog_project_fn *fn, void *ctx, int64_t *newest, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_CHANGES, BY(SQL_INT(since)), e);
	int64_t last = since;
	if (each_project(q, fn, ctx, &last, e) < 0)
		return -1;
	*newest = last;
	return 0;
}

int catalog_find_file(struct catalog *c, int64_t platform, const char *filename, struct catalog_place *out,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_PLACE, BY(SQL_TEXT(filename),
		SQL_INT(platform)), e);
	int row = query_step(q, e);
	if (row < 0)
		return -1;
	const uint8_t *sha256 = row ? query_sha256(q, 4) : NULL;
	if (!sha256)
		return err_set(e, ERR_NOT_FOUND, "no file %s", filename);
	const uint8_t *metadata = query_sha256(q, 5);
	*out = (struct catalog_place){
		.path = xstrdup(query_text(q, 0)),
		.project = xstrdup(query_text(q, 6)),
		.size = (uint64_t)query_int(q, 1),
		.mtime_ns = query_int(q, 2),
		.inode = (uint64_t)query_int(q, 3),
		.has_metadata = metadata != NULL,
		.is_unlisted = query_int(q, 7) != 0,
	};
	memcpy(out->sha256, sha256, SHA256_SIZE);
	if (metadata)
		memcpy(out->metadata_sha256, metadata, SHA256_SIZE);
	return 0;
}

void catalog_place_release(struct catalog_place *p)
{
	free(p->path);
	free(p->project);
	p->path = p->project = NULL;
}

int catalog_locations(struct catalog *c, int64_t platform, catalog_location_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLATFORM_FILES, BY(SQL_INT(platform)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_location file = {query_text(q, 0), query_text(q, 1), query_text(q, 2),
			query_sha256(q, 3), query_sha256(q, 4), query_sha256(q, 5)};
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_metadata(struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, METADATA_GET, BY(SQL_BYTES(sha256, SHA256_SIZE)), e);
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no such metadata in the catalog");
	return row < 0 ? -1 : decompress_zstd(query_bytes(q, 0), out, e);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/domain/text/mark.h"
#include "lib/state/catalog/catalog-name.h"
#include "lib/state/catalog/file-columns.h"

static int tell_known_files(struct query *q, catalog_known_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_known file = {.filename = query_text(q, 0)}, *out = &file;
		int at = 1;
		FILE_COLUMNS(FILE_READ_SCAN)
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_folder_files(struct catalog *c, int64_t folder, catalog_known_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_FILES, BY(SQL_INT(folder)), e);
	return tell_known_files(q, fn, ctx, e);
}

int catalog_folder_file(struct catalog *c, int64_t folder, const char *filename, catalog_known_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_FILE, BY(SQL_INT(folder),
		SQL_TEXT(filename)), e);
	return tell_known_files(q, fn, ctx, e);
}

static int add_project(struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_ADD, BY(SQL_INT(platform), SQL_TEXT(name)), e);
	if (query_run(q, e) < 0)
		return -1;
	*id = query_new_id(q);
	return 0;
}

// 1: found; 0: not found.
static int find_project(struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_FIND, BY(SQL_INT(platform),
		SQL_TEXT(name)), e);
	int row = query_step(q, e);
	if (row > 0)
		*id = query_int(q, 0);
	return row;
}

int catalog_knows_project(struct catalog *c, int64_t platform, const char *project, struct err *e)
{
	int64_t ignored;
	return find_project(c, platform, project, &ignored, e);
}

// The id of a project's row; a missing row is added.
static int project_id(struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	int row = find_project(c, platform, name, id, e);
	if (row)
		return row < 0 ? -1 : 0;
	return add_project(c, platform, name, id, e);
}

static int add_metadata(struct catalog *c, const struct catalog_entry *f, struct err *e)
{
	return catalog_run_by(c, METADATA_ADD, BY(SQL_BYTES(f->metadata_sha256, SHA256_SIZE),
		SQL_BYTES(f->metadata_packed.ptr, f->metadata_packed.len)), e);
}

// The reasons of the marks beside a file; NULL: it does not have this mark.
struct beside {
	char *reason[MARK_COUNT];
};

static void marks_beside_release(struct beside *b)
{
	for (size_t i = 0; i < MARK_COUNT; i++)
		free(b->reason[i]);
}

static int read_marks_beside(struct catalog *c, const struct catalog_entry *f, struct beside *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, MARKS_OF, BY(SQL_INT(f->folder),
		SQL_TEXT(f->filename)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		int64_t kind = query_int(q, 0);
		if (kind >= 0 && kind < MARK_COUNT && !out->reason[kind])
			out->reason[kind] = xstrdup(query_text(q, 1));
	}
	return row;
}

// How the catalog lists a file: the columns that are not facts about the file.
struct file_listing {
	enum catalog_state state;
	const char *reason, *yanked;
	int64_t project; // 0: none
};

// FILE_ADD and FILE_SET number their parameters alike; each ignores some.
static int write_row(struct catalog *c, const struct catalog_entry *f, const struct file_listing *s, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, f->id ? FILE_SET : FILE_ADD, BY(SQL_INT(f->id),
		SQL_INT(f->folder), SQL_INT(f->platform), SQL_TEXT(f->filename)), e);
	if (s->project)
		query_bind_int(q, 5, s->project);
	query_bind_int(q, 6, s->state);
	query_bind_text(q, 7, s->reason);
	query_bind_text(q, 8, s->yanked);
	int at = 9;
	FILE_COLUMNS(FILE_BIND_PUT)
	return query_run(q, e);
}

// Whether bytes and modification time are those in the catalog: then no page changes.
static int is_unchanged_file(struct catalog *c, const struct catalog_entry *f, bool *same, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_GET, BY(SQL_INT(f->id)), e);
	if (query_step(q, e) < 0)
		return -1;
	const uint8_t *sha256 = query_sha256(q, 3);
	bool was_refused = query_int(q, 2) == FILE_IS_REFUSED;
	bool same_bytes = sha256 && f->sha256 ? memcmp(sha256, f->sha256, SHA256_SIZE) == 0 : !sha256 && !f->sha256;
	*same = same_bytes && query_int(q, 4) == f->mtime_ns && was_refused == (f->refusal != NULL);
	return 0;
}

static int put_entry(struct catalog *c, const struct catalog_entry *f, const struct holder *before, bool *is_new,
	struct err *e)
{
	bool same = false;
	if (f->id && is_unchanged_file(c, f, &same, e) < 0)
		return -1;
	*is_new = !same;
	if (same)
		return catalog_run_by(c, FILE_TOUCH, BY(SQL_INT(f->id), SQL_INT(f->inode), SQL_INT(f->trusted)), e);
	if (f->refusal) {
		struct file_listing s = {.state = FILE_IS_REFUSED, .reason = f->refusal};
		if (write_row(c, f, &s, e) < 0)
			return -1;
		return f->id && before->id == f->id ? catalog_name_promote(c, f->filename, f->platform, e) : 0;
	}
	CLEANUP(marks_beside_release) struct beside marks = {0};
	CLEANUP(mem_free) char *reason = NULL;
	struct file_listing s = {.state = FILE_IS_UNLISTED};
	if (read_marks_beside(c, f, &marks, e) < 0)
		return -1;
	if (!marks.reason[MARK_PRUNED] &&
		catalog_name_claim(c, f->id, f->folder_path, before, &s.state, &reason, e) < 0)
		return -1;
	if (project_id(c, f->platform, f->project, &s.project, e) < 0)
		return -1;
	if (f->metadata_sha256 && add_metadata(c, f, e) < 0)
		return -1;
	s.reason = marks.reason[MARK_PRUNED] ? marks.reason[MARK_PRUNED] : reason;
	s.yanked = marks.reason[MARK_YANKED];
	if (write_row(c, f, &s, e) < 0)
		return -1;
	const char *time = marks.reason[MARK_TIME];
	return time ? catalog_name_set_time(c, f->folder, f->filename, time, e) : 0;
}

int catalog_file_put(struct catalog *c, const struct catalog_entry *entry, struct catalog_effect *effect, struct err *e)
{
	struct holder before, after;
	struct name_row place;
	struct catalog_entry f = *entry;
	*effect = (struct catalog_effect){0};
	if (catalog_name_row(c, f.folder, f.filename, &place, e) < 0 ||
		catalog_name_look(c, f.filename, f.platform, &before, &effect->was_listed, effect->before, e) < 0)
		return -1;
	effect->was_left = f.is_guarded && (place.id != f.id || place.written != f.written);
	f.id = place.id;
	if (!effect->was_left && put_entry(c, &f, &before, &effect->is_new, e) < 0)
		return -1;
	return catalog_name_look(c, f.filename, f.platform, &after, &effect->is_listed, effect->after, e);
}

int catalog_file_set_came(struct catalog *c, int64_t folder, const char *filename, int64_t came, struct err *e)
{
	static const enum statement both[] = {FILE_SET_CAME, CAME_SET};
	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		if (catalog_run_by(c, both[i], BY(SQL_INT(folder), SQL_TEXT(filename), SQL_INT(came)), e) < 0)
			return -1;
	return 0;
}

// The name and platform of a file. name has room for LIMIT_FILE_NAME and a NUL; it is empty if the row was written
// since.
static int get_name(struct catalog *c, int64_t id, int64_t written, char *name, int64_t *platform, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, FILE_GET, e);
	*name = '\0';
	query_bind_int(q, 1, id);
	int row = query_step(q, e);
	if (row <= 0 || query_int(q, 5) != written)
		return row < 0 ? -1 : 0;
	struct str found = str_from(query_text(q, 0));
	if (found.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_DB, "catalog %s: the row of a file is damaged", catalog_path(c));
	memcpy(name, found.ptr, found.len + 1);
	*platform = query_int(q, 1);
	return 0;
}

int catalog_file_remove(struct catalog *c, int64_t id, int64_t written, char name[LIMIT_FILE_NAME + 1],
	struct catalog_effect *effect, struct err *e)
{
	struct holder before, after;
	int64_t platform = 0;
	*effect = (struct catalog_effect){0};
	if (get_name(c, id, written, name, &platform, e) < 0)
		return -1;
	effect->was_left = !*name;
	if (effect->was_left)
		return 0;
	if (catalog_name_look(c, name, platform, &before, &effect->was_listed, effect->before, e) < 0 ||
		catalog_run_by(c, FILE_REMOVE, BY(SQL_INT(id)), e) < 0)
		return -1;
	if (before.id == id && catalog_name_promote(c, name, platform, e) < 0)
		return -1;
	return catalog_name_look(c, name, platform, &after, &effect->is_listed, effect->after, e);
}

int catalog_file_copies(struct catalog *c, int64_t platform, const char *filename, catalog_copy_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_COPIES, BY(SQL_TEXT(filename),
		SQL_INT(platform)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_copy copy = {.folder_path = query_text(q, 0)}, *out = &copy;
		int at = 1;
		FILE_COLUMNS(FILE_READ_COPY)
		if (fn(ctx, &copy, e) < 0)
			return -1;
	}
	return row;
}

static int each_with_reason(struct query *q, catalog_unlisted_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_int(q, 0), query_text(q, 1), query_text(q, 2), e) < 0)
			return -1;
	return row;
}

int catalog_unlisted(struct catalog *c, enum catalog_state state, catalog_unlisted_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILES_UNLISTED, BY(SQL_INT(state)), e);
	return each_with_reason(q, fn, ctx, e);
}

int catalog_misfits(struct catalog *c, catalog_unlisted_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, FILES_MISFIT, e);
	return each_with_reason(q, fn, ctx, e);
}

int catalog_shared(struct catalog *c, catalog_shared_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, FILES_SHARED, e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), (uint64_t)query_int(q, 1), (uint64_t)query_int(q, 2), e) < 0)
			return -1;
	return row;
}

int catalog_newest_arrival(struct catalog *c, int64_t until, int64_t *out, struct err *e)
{
	return catalog_int_by(c, FILES_NEWEST, BY(SQL_INT(until)), out, e) < 0 ? -1 : 0;
}

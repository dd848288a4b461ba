// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-mark.h"

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-name.h"
#include "lib/state/catalog/file-columns.h"

static int tell_known_marks(struct query *q, catalog_known_mark_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_known_mark mark = {
			query_text(q, 0), (enum mark)query_int(q, 1), query_text(q, 2), query_int(q, 3)};
		if (mark.mark < MARK_COUNT && fn(ctx, &mark, e) < 0)
			return -1;
	}
	return row;
}

int catalog_folder_marks(struct catalog *c, int64_t folder, catalog_known_mark_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_MARKS, BY(SQL_INT(folder)), e);
	return tell_known_marks(q, fn, ctx, e);
}

int catalog_folder_mark(struct catalog *c, int64_t folder, const char *filename, enum mark mark,
	catalog_known_mark_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_MARK, BY(SQL_INT(folder), SQL_TEXT(filename),
		SQL_INT(mark)), e);
	return tell_known_marks(q, fn, ctx, e);
}

static void bind_key(struct query *q, const struct catalog_mark *m)
{
	query_bind_int(q, 1, m->folder);
	query_bind_text(q, 2, m->filename);
	query_bind_int(q, 3, m->mark);
}

// 0 if there is none.
static int get_written(struct catalog *c, const struct catalog_mark *m, int64_t *written, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, MARK_GET, e);
	bind_key(q, m);
	int row = query_step(q, e);
	*written = row > 0 ? query_int(q, 0) : 0;
	return row < 0 ? -1 : 0;
}

// The reason in one line; NULL: the mark is removed. The caller frees it.
static char *reason_of(const struct catalog_mark *m)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_SIDECAR);
	if (!m->text)
		return NULL;
	mark_reason(m->mark, str_from(m->text), &reason);
	return buf_steal(&reason);
}

// A scan that finds the mark gone deletes the row. Any other removal leaves a row, so that a scan which read the
// sidecar before the removal does not restore the mark.
static int write_mark(struct catalog *c, const struct catalog_mark *m, const char *reason, struct err *e)
{
	bool is_forgotten = !m->text && m->is_guarded;
	CLEANUP(query_end)
	struct query *q = catalog_query(c, is_forgotten ? MARK_REMOVE : MARK_SET, e);
	bind_key(q, m);
	if (!is_forgotten) {
		query_bind_int(q, 4, m->platform);
		query_bind_text(q, 5, reason);
		query_bind_text(q, 6, m->text);
	}
	return query_run(q, e);
}

// Lists the file again, if no other file owns its name.
static int list_file(struct catalog *c, const struct catalog_mark *m, int64_t id, const struct holder *competitor,
	struct err *e)
{
	CLEANUP(mem_free) char *reason = NULL;
	enum catalog_state state;
	if (catalog_name_claim(c, id, m->folder_path, competitor, &state, &reason, e) < 0)
		return -1;
	return catalog_name_set_state(c, id, state, reason, e);
}

// Applies the mark to its file, if that exists and is good.
static int apply_to_file(struct catalog *c, const struct catalog_mark *m, const char *reason,
	const struct holder *before, struct err *e)
{
	struct name_row file;
	if (catalog_name_row(c, m->folder, m->filename, &file, e) < 0)
		return -1;
	if (!file.id || file.state == FILE_IS_REFUSED)
		return 0;
	if (m->mark == MARK_TIME)
		return catalog_name_set_time(c, m->folder, m->filename, reason, e);
	if (m->mark == MARK_YANKED)
		return catalog_run_by(c, FILE_YANK, BY(SQL_INT(file.id), SQL_TEXT(reason)), e);
	if (!reason)
		return file.state == FILE_IS_UNLISTED ? list_file(c, m, file.id, before, e) : 0;
	if (catalog_name_set_state(c, file.id, FILE_IS_UNLISTED, reason, e) < 0)
		return -1;
	return before->id == file.id ? catalog_name_promote(c, m->filename, m->platform, e) : 0;
}

int catalog_mark_put(struct catalog *c, const struct catalog_mark *m, struct catalog_effect *effect, struct err *e)
{
	struct holder before, after;
	int64_t written = 0;
	*effect = (struct catalog_effect){0};
	if (get_written(c, m, &written, e) < 0 ||
		catalog_name_look(c, m->filename, m->platform, &before, &effect->was_listed, effect->before, e) < 0)
		return -1;
	effect->was_left = m->is_guarded && written != m->written;
	CLEANUP(mem_free) char *reason = reason_of(m);
	if (!effect->was_left && (write_mark(c, m, reason, e) < 0 || apply_to_file(c, m, reason, &before, e) < 0))
		return -1;
	return catalog_name_look(c, m->filename, m->platform, &after, &effect->is_listed, effect->after, e);
}

// limit: of MARKS_NEWEST.
static int each_mark(struct catalog *c, enum statement which, int64_t platform, enum mark mark, int64_t limit,
	catalog_marked_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, which, BY(SQL_INT(platform), SQL_INT(mark)), e);
	if (which == MARKS_NEWEST)
		query_bind_int(q, 3, limit);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_marked one = {
			.platform = query_int(q, 0),
			.folder_path = query_text(q, 1),
			.filename = query_text(q, 2),
			.reason = query_text(q, 3),
			.text = query_text(q, 4),
			.has_file = query_int(q, 5) != 0,
			.project = query_text(q, 6),
			.refusal = query_text(q, 7),
		};
		struct catalog_marked *out = &one;
		int at = 8;
		FILE_COLUMNS(FILE_READ_MARK)
		if (fn(ctx, &one, e) < 0)
			return -1;
	}
	return row;
}

int catalog_marks(struct catalog *c, int64_t platform, enum mark mark, catalog_marked_fn *fn, void *ctx, struct err *e)
{
	return each_mark(c, MARKS_OF_KIND, platform, mark, 0, fn, ctx, e);
}

int catalog_newest_marks(struct catalog *c, int64_t platform, enum mark mark, int64_t limit, catalog_marked_fn *fn,
	void *ctx, struct err *e)
{
	return each_mark(c, MARKS_NEWEST, platform, mark, limit, fn, ctx, e);
}

int catalog_run_marks(struct catalog *c, int64_t platform, const struct catalog_run *run, uint64_t *count,
	struct buf *text, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, MARKS_OF_RUN, BY(SQL_INT(platform),
		SQL_INT(run->since), SQL_TEXT(run->id)), e);
	if (query_step(q, e) < 0)
		return -1;
	*count = (uint64_t)query_int(q, 0);
	if (*count)
		buf_puts(text, query_text(q, 1));
	return 0;
}

int catalog_statuses(struct catalog *c, const char *project, catalog_status_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, STATUSES_OF, BY(SQL_TEXT(project)), e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_int(q, 0), query_text(q, 1), str_from(query_text(q, 2)), e) < 0)
			return -1;
	return row;
}

static int find_tombstone(struct catalog *c, enum statement what, int64_t platform, const char *filename,
	struct buf *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, what, BY(SQL_TEXT(filename), SQL_INT(platform)), e);
	int row = query_step(q, e);
	if (row > 0)
		buf_puts(out, query_text(q, 0));
	return row;
}

int catalog_tombstone(struct catalog *c, int64_t platform, const char *filename, struct buf *out, struct err *e)
{
	return find_tombstone(c, TOMBSTONE_FIND, platform, filename, out, e);
}

int catalog_tombstone_text(struct catalog *c, int64_t platform, const char *filename, struct buf *out, struct err *e)
{
	return find_tombstone(c, TOMBSTONE_TEXT, platform, filename, out, e);
}

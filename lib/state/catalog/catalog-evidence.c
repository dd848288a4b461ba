// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-evidence.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "lib/state/catalog/catalog-query.h"

// False if the row has no id: then it is damaged, and counts for nothing.
static bool read_evidence_row(struct query *q, struct catalog_evidence *out)
{
	const uint8_t *id = query_sha256(q, 0);
	if (!id)
		return false;
	*out = (struct catalog_evidence){
		.kind = query_text(q, 1),
		.platform = query_text(q, 2),
		.python = query_text(q, 3),
		.made = query_int(q, 4),
		.received = query_int(q, 5),
		.order = query_int(q, 6),
		.by = query_text(q, 7),
		.address = query_text(q, 8),
		.views = query_text(q, 9),
		.overrides = query_text(q, 10),
		.passed = (uint64_t)query_int(q, 11),
		.failed = (uint64_t)query_int(q, 12),
		.skipped = (uint64_t)query_int(q, 13),
		.wheels = (size_t)query_int(q, 14),
	};
	memcpy(out->id, id, SHA256_SIZE);
	return true;
}

static int each_record(struct query *q, catalog_evidence_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_evidence record;
		if (read_evidence_row(q, &record) && fn(ctx, &record, e) < 0)
			return -1;
	}
	return row;
}

int catalog_evidence_find(struct catalog *c, const uint8_t id[SHA256_SIZE], catalog_evidence_fn *fn, void *ctx,
	struct err *e)
{
	struct catalog_evidence record;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_FIND, BY(SQL_SHA256(id)), e);
	int row = query_step(q, e);
	if (row <= 0 || !read_evidence_row(q, &record))
		return row < 0 ? -1 : 0;
	return fn(ctx, &record, e) < 0 ? -1 : 1;
}

int catalog_evidence_last(struct catalog *c, int64_t *order, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, EVIDENCE_LAST, e);
	if (query_step(q, e) < 0)
		return -1;
	*order = query_int(q, 0);
	return 0;
}

int catalog_evidence_runs(struct catalog *c, const char *kind, int64_t from, catalog_evidence_fn *fn, void *ctx,
	struct err *e)
{
	const int64_t second = 1000000000;
	CLEANUP(query_end) struct query *q = catalog_query(c, EVIDENCE_RUNS, e);
	int row;
	query_bind_text(q, 1, kind);
	query_bind_int(q, 2, from > INT64_MAX / second ? INT64_MAX : from * second);
	while ((row = query_step(q, e)) > 0) {
		struct catalog_evidence record;
		int done = read_evidence_row(q, &record) ? fn(ctx, &record, e) : 0;
		if (done)
			return done < 0 ? -1 : 0;
	}
	return row;
}

// --- writing ---

static int add_record(struct catalog *c, const struct catalog_evidence *r, struct str packed, int64_t *id,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, EVIDENCE_ADD, e);
	const char *const text[] = {r->kind, r->platform, r->python};
	const int64_t time[] = {r->made, r->received, r->order};
	const char *const sender[] = {r->by, r->address, r->views, r->overrides};
	const int64_t number[] = {(int64_t)r->passed, (int64_t)r->failed, (int64_t)r->skipped, (int64_t)r->wheels};
	int at = 1;
	query_bind_sha256(q, at++, r->id);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		query_bind_text(q, at++, text[i]);
	for (size_t i = 0; i < ARRAY_SIZE(time); i++)
		query_bind_int(q, at++, time[i]);
	for (size_t i = 0; i < ARRAY_SIZE(sender); i++)
		query_bind_text(q, at++, sender[i]);
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		query_bind_int(q, at++, number[i]);
	query_bind_str(q, at, packed);
	int row = query_step(q, e);
	*id = row > 0 ? query_int(q, 0) : 0;
	return row > 0 && query_run(q, e) < 0 ? -1 : row;
}

static int add_tested_wheel(struct catalog *c, int64_t record, const struct catalog_tested *wheel, struct err *e)
{
	return catalog_run_by(c, EVIDENCE_ADD_WHEEL, BY(SQL_INT(record), SQL_SHA256(wheel->sha256),
		SQL_TEXT(wheel->project), SQL_STR(wheel->version), SQL_TEXT(wheel->filename),
		SQL_SHA256(wheel->content), SQL_TEXT(wheel->commit)), e);
}

int catalog_evidence_put(struct catalog *c, const struct catalog_evidence *row, const struct catalog_tested *wheel,
	struct str packed, struct err *e)
{
	int64_t id;
	int added = add_record(c, row, packed, &id, e);
	for (size_t i = 0; added > 0 && i < row->wheels; i++)
		if (add_tested_wheel(c, id, &wheel[i], e) < 0)
			return -1;
	return added;
}

static int run_for_id(struct catalog *c, enum statement what, const uint8_t id[SHA256_SIZE], struct err *e)
{
	return catalog_run_by(c, what, BY(SQL_SHA256(id)), e);
}

int catalog_evidence_remove(struct catalog *c, const uint8_t id[SHA256_SIZE], struct err *e)
{
	return run_for_id(c, EVIDENCE_REMOVE, id, e);
}

// --- reading ---

bool catalog_evidence_counts_for(const struct catalog_evidence *row, const char *view)
{
	struct str rest = str_from(row->views);
	while (rest.len) {
		CLEANUP(mem_free) char *glob = NULL;
		struct str word = str_cut(&rest, ' ');
		glob = xstrndup(word.ptr, word.len);
		if (*glob && fnmatch(glob, view, 0) == 0)
			return true;
	}
	return false;
}

static int first_of_view(struct query *q, const char *view, catalog_evidence_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_evidence record;
		if (read_evidence_row(q, &record) && catalog_evidence_counts_for(&record, view))
			return fn(ctx, &record, e);
	}
	return row;
}

int catalog_evidence_newest(struct catalog *c, const char *view, const char *kind, const char *platform,
	const char *python, const struct catalog_tested *wheel, catalog_evidence_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_NEWEST, BY(SQL_SHA256(wheel->sha256),
		SQL_TEXT(wheel->project), SQL_TEXT(kind), SQL_TEXT(platform), SQL_TEXT(python)), e);
	return first_of_view(q, view, fn, ctx, e);
}

static int each_build(struct query *q, const char *view, const char *project, catalog_evidence_build_fn *fn, void *ctx,
	struct err *e)
{
	enum { FIRST = 15 }; // behind EVIDENCE_COLUMNS
	size_t left = LIMIT_EVIDENCE_BUILDS;
	int row = 0;
	while (left && (row = query_step(q, e)) > 0) {
		struct catalog_evidence record;
		const struct catalog_tested tested = {.project = project,
			.sha256 = query_sha256(q, FIRST),
			.filename = query_text(q, FIRST + 1),
			.content = query_sha256(q, FIRST + 2),
			.commit = query_text(q, FIRST + 3)};
		if (!read_evidence_row(q, &record) || !tested.sha256 || !catalog_evidence_counts_for(&record, view))
			continue;
		int done = fn(ctx, &record, &tested, e);
		if (done)
			return done < 0 ? -1 : 0;
		left--;
	}
	return row < 0 ? -1 : 0;
}

int catalog_evidence_builds(struct catalog *c, const char *view, const char *kind, const char *platform,
	const char *python, const struct catalog_tested *wheel, catalog_evidence_build_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_BUILDS, BY(SQL_TEXT(wheel->project),
		SQL_STR(wheel->version), SQL_TEXT(kind), SQL_TEXT(platform), SQL_TEXT(python),
		SQL_SHA256(wheel->sha256)), e);
	return each_build(q, view, wheel->project, fn, ctx, e);
}

int catalog_evidence_before(struct catalog *c, const char *view, const char *project, const struct catalog_evidence *of,
	catalog_evidence_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_BEFORE, BY(SQL_TEXT(project),
		SQL_TEXT(of->kind), SQL_TEXT(of->platform), SQL_TEXT(of->python), SQL_INT(of->order)), e);
	return first_of_view(q, view, fn, ctx, e);
}

static int64_t limit_of(uint64_t most)
{
	return most > INT64_MAX ? INT64_MAX : (int64_t)most;
}

int catalog_evidence_of(struct catalog *c, const struct catalog_tested *wheel, uint64_t most, catalog_evidence_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_OF, BY(SQL_SHA256(wheel->sha256),
		SQL_TEXT(wheel->project), SQL_INT(limit_of(most))), e);
	return each_record(q, fn, ctx, e);
}

int catalog_evidence_since(struct catalog *c, int64_t since, uint64_t most, catalog_evidence_fn *fn, void *ctx,
	struct err *e)
{
	const int64_t second = 1000000000;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_SINCE, BY(
		SQL_INT(since > INT64_MAX / second ? INT64_MAX : since * second), SQL_INT(limit_of(most))), e);
	return each_record(q, fn, ctx, e);
}

int catalog_evidence_projects(struct catalog *c, const uint8_t sha256[SHA256_SIZE], catalog_evidence_project_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_PROJECTS, BY(SQL_SHA256(sha256)), e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), e) < 0)
			return -1;
	return row;
}

int catalog_evidence_get(struct catalog *c, const uint8_t id[SHA256_SIZE], struct buf *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_GET, BY(SQL_SHA256(id)), e);
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no such evidence in the catalog");
	return row < 0 ? -1 : decompress_zstd(query_bytes(q, 0), out, e);
}

// --- what a scan compares ---

static int each_evidence_id(struct query *q, catalog_evidence_id_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		const uint8_t *id = query_sha256(q, 0);
		if (id && fn(ctx, id, e) < 0)
			return -1;
	}
	return row;
}

int catalog_evidence_ids(struct catalog *c, uint8_t first, catalog_evidence_id_fn *fn, void *ctx, struct err *e)
{
	uint8_t from[SHA256_SIZE] = {first}, to[SHA256_SIZE];
	memset(to, 0xff, sizeof(to));
	to[0] = first;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_IN, BY(SQL_SHA256(from), SQL_SHA256(to)), e);
	return each_evidence_id(q, fn, ctx, e);
}

int catalog_evidence_older(struct catalog *c, int64_t then, uint64_t most, catalog_evidence_id_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, EVIDENCE_OLDER, BY(
		SQL_INT(then > INT64_MAX / 1000000000 ? INT64_MAX : then * 1000000000), SQL_INT(limit_of(most))), e);
	return each_evidence_id(q, fn, ctx, e);
}

int catalog_evidence_folder(struct catalog *c, uint8_t first, int64_t *mtime_ns, struct err *e)
{
	return catalog_int_by(c, EVIDENCE_FOLDER_GET, BY(SQL_INT(first)), mtime_ns, e) < 0 ? -1 : 0;
}

int catalog_evidence_folder_set(struct catalog *c, uint8_t first, int64_t mtime_ns, struct err *e)
{
	return catalog_run_by(c, EVIDENCE_FOLDER_SET, BY(SQL_INT(first), SQL_INT(mtime_ns)), e);
}

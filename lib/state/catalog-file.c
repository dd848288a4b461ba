// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog-file.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/query.h"

int catalog_folder_files(
	struct catalog *c, int64_t folder, catalog_known_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FOLDER_FILES, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, folder);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_known file = {
			.id = query_int(q, 0),
			.filename = query_text(q, 1),
			.state = (enum catalog_state)query_int(q, 2),
			.trusted = query_int(q, 3) != 0,
			.size = (uint64_t)query_int(q, 4),
			.mtime_ns = query_int(q, 5),
			.inode = (uint64_t)query_int(q, 6),
		};
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

// One of the files of a name.
struct holder {
	int64_t id; // 0: nobody
	char folder[LIMIT_PATH + 1];
	uint8_t sha256[SHA256_SIZE];
};

static int find_holder(struct catalog *c, enum statement id, const char *filename, int64_t platform,
	struct holder *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, id, e);
	out->id = 0;
	if (!q)
		return -1;
	query_bind_text(q, 1, filename);
	query_bind_int(q, 2, platform);
	int row = query_step(q, e);
	if (row <= 0)
		return row;
	const uint8_t *sha256 = query_sha256(q, 2);
	struct str folder = str_from(query_text(q, 1));
	if (!sha256 || folder.len > LIMIT_PATH)
		return err_set(e, ERR_DB, "catalog %s: the row of %s is damaged", catalog_path(c),
			filename);
	out->id = query_int(q, 0);
	memcpy(out->folder, folder.ptr, folder.len);
	out->folder[folder.len] = '\0';
	memcpy(out->sha256, sha256, SHA256_SIZE);
	return 0;
}

static int set_state(
	struct catalog *c, int64_t id, enum catalog_state state, const char *reason, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FILE_STATE, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, id);
	query_bind_int(q, 2, state);
	query_bind_text(q, 3, reason);
	return query_run(q, e);
}

static char *duplicate_reason(const char *winner)
{
	return xasprintf("the same file name is in %s%s, which comes first",
		*winner ? "the folder " : "the top folder", winner);
}

// Nobody holds the name now: the first duplicate takes it.
static int promote(struct catalog *c, const char *filename, int64_t platform, struct err *e)
{
	struct holder heir;
	if (find_holder(c, FILE_HEIR, filename, platform, &heir, e) < 0)
		return -1;
	return heir.id ? set_state(c, heir.id, FILE_IS_LISTED, NULL, e) : 0;
}

static int add_project(
	struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, PROJECT_ADD, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, platform);
	query_bind_text(q, 2, name);
	if (query_run(q, e) < 0)
		return -1;
	*id = query_new_id(q);
	return 0;
}

// 1: found, 0: not there.
static int find_project(
	struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, PROJECT_FIND, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, platform);
	query_bind_text(q, 2, name);
	int row = query_step(q, e);
	if (row > 0)
		*id = query_int(q, 0);
	return row;
}

// The id of a project's row, made where it is missing.
static int project_id(
	struct catalog *c, int64_t platform, const char *name, int64_t *id, struct err *e)
{
	int row = find_project(c, platform, name, id, e);
	if (row)
		return row < 0 ? -1 : 0;
	return add_project(c, platform, name, id, e);
}

static int add_metadata(struct catalog *c, const struct catalog_entry *f, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, METADATA_ADD, e);
	if (!q)
		return -1;
	query_bind_bytes(q, 1, f->metadata_sha256, SHA256_SIZE);
	query_bind_bytes(q, 2, f->metadata_packed.ptr, f->metadata_packed.len);
	return query_run(q, e);
}

// FILE_ADD and FILE_SET have the same parameters; each leaves out those that it has no use for.
static int write_row(struct catalog *c, const struct catalog_entry *f, enum catalog_state state,
	const char *reason, int64_t project, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, f->id ? FILE_SET : FILE_ADD, e);
	if (!q)
		return -1;
	const int64_t number[] = {[1] = f->id,
		[2] = f->folder,
		[3] = f->platform,
		[6] = state,
		[7] = f->trusted,
		[8] = (int64_t)f->size,
		[9] = f->mtime_ns,
		[10] = (int64_t)f->inode,
		[16] = f->findings};
	static const int used[] = {1, 2, 3, 6, 7, 8, 9, 10, 16};
	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		query_bind_int(q, used[i], number[used[i]]);
	if (project)
		query_bind_int(q, 4, project);
	query_bind_text(q, 5, f->filename);
	query_bind_bytes(q, 11, f->sha256, f->sha256 ? SHA256_SIZE : 0);
	query_bind_text(q, 12, f->version);
	query_bind_bytes(q, 13, f->version_key.ptr, f->version_key.len);
	query_bind_bytes(q, 14, f->metadata_sha256, f->metadata_sha256 ? SHA256_SIZE : 0);
	query_bind_text(q, 15, f->requires_python);
	query_bind_text(q, 17, reason);
	return query_run(q, e);
}

// Whether a/X comes before b/X.
static bool comes_first(const char *a, const char *b)
{
	CLEANUP(mem_free) char *left = xasprintf("%s/", a), *right = xasprintf("%s/", b);
	return strcmp(left, right) < 0;
}

static int put_good(
	struct catalog *c, const struct catalog_entry *f, const struct holder *rival, struct err *e)
{
	int64_t project = 0;
	bool is_duplicate =
		rival->id && rival->id != f->id && comes_first(rival->folder, f->folder_path);
	if (rival->id && rival->id != f->id && !is_duplicate) {
		CLEANUP(mem_free) char *reason = duplicate_reason(f->folder_path);
		if (set_state(c, rival->id, FILE_IS_DUPLICATE, reason, e) < 0)
			return -1;
	}
	if (project_id(c, f->platform, f->project, &project, e) < 0)
		return -1;
	if (f->metadata_sha256 && add_metadata(c, f, e) < 0)
		return -1;
	CLEANUP(mem_free) char *reason = is_duplicate ? duplicate_reason(rival->folder) : NULL;
	return write_row(
		c, f, is_duplicate ? FILE_IS_DUPLICATE : FILE_IS_LISTED, reason, project, e);
}

static int put_refused(
	struct catalog *c, const struct catalog_entry *f, const struct holder *rival, struct err *e)
{
	struct catalog_entry bare = {.id = f->id,
		.platform = f->platform,
		.folder = f->folder,
		.filename = f->filename,
		.trusted = f->trusted,
		.size = f->size,
		.mtime_ns = f->mtime_ns,
		.inode = f->inode,
		.sha256 = f->sha256};
	if (write_row(c, &bare, FILE_IS_REFUSED, f->refusal, 0, e) < 0)
		return -1;
	return f->id && rival->id == f->id ? promote(c, f->filename, f->platform, e) : 0;
}

// Looks at who holds the name now and fills in the half of the effect that stands for it.
static int look(struct catalog *c, const char *filename, int64_t platform, struct holder *out,
	bool *is_listed, uint8_t *sha256, struct err *e)
{
	if (find_holder(c, FILE_LISTED, filename, platform, out, e) < 0)
		return -1;
	*is_listed = out->id != 0;
	if (out->id)
		memcpy(sha256, out->sha256, SHA256_SIZE);
	return 0;
}

// The same bytes at the same time as the catalog has them: no page changes.
static int is_same(struct catalog *c, const struct catalog_entry *f, bool *same, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FILE_GET, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, f->id);
	if (query_step(q, e) < 0)
		return -1;
	const uint8_t *sha256 = query_sha256(q, 3);
	bool was_refused = query_int(q, 2) == FILE_IS_REFUSED;
	*same = sha256 && f->sha256 && memcmp(sha256, f->sha256, SHA256_SIZE) == 0 &&
		query_int(q, 4) == f->mtime_ns && was_refused == (f->refusal != NULL);
	return 0;
}

static int touch(struct catalog *c, const struct catalog_entry *f, struct err *e)
{
	int64_t values[] = {f->id, (int64_t)f->inode, f->trusted};
	return query_run_ints(c, FILE_TOUCH, values, ARRAY_SIZE(values), e);
}

int catalog_file_put(struct catalog *c, const struct catalog_entry *f,
	struct catalog_effect *effect, struct err *e)
{
	struct holder before, after;
	bool same = false;
	*effect = (struct catalog_effect){0};
	if (look(c, f->filename, f->platform, &before, &effect->was_listed, effect->before, e) <
			0 ||
		(f->id && is_same(c, f, &same, e) < 0))
		return -1;
	int (*put)(struct catalog *, const struct catalog_entry *, const struct holder *,
		struct err *) = f->refusal ? put_refused : put_good;
	if ((same ? touch(c, f, e) : put(c, f, &before, e)) < 0)
		return -1;
	return look(c, f->filename, f->platform, &after, &effect->is_listed, effect->after, e);
}

// The name and platform of a file; filename has room for LIMIT_FILE_NAME and a NUL.
static int get_name(struct catalog *c, int64_t id, char *filename, int64_t *platform, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FILE_GET, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, id);
	int row = query_step(q, e);
	struct str name = row > 0 ? str_from(query_text(q, 0)) : STR("");
	if (row < 0)
		return -1;
	if (!row || name.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_NOT_FOUND, "no file %lld in the catalog", (long long)id);
	memcpy(filename, name.ptr, name.len);
	filename[name.len] = '\0';
	*platform = query_int(q, 1);
	return 0;
}

int catalog_file_remove(struct catalog *c, int64_t id, char name[LIMIT_FILE_NAME + 1],
	struct catalog_effect *effect, struct err *e)
{
	struct holder before, after;
	int64_t platform = 0;
	*effect = (struct catalog_effect){0};
	if (get_name(c, id, name, &platform, e) < 0 ||
		look(c, name, platform, &before, &effect->was_listed, effect->before, e) < 0 ||
		query_run_ints(c, FILE_REMOVE, &id, 1, e) < 0)
		return -1;
	if (before.id == id && promote(c, name, platform, e) < 0)
		return -1;
	return look(c, name, platform, &after, &effect->is_listed, effect->after, e);
}

int catalog_unlisted(struct catalog *c, enum catalog_state state, catalog_unlisted_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FILES_UNLISTED, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, state);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_int(q, 0), query_text(q, 1), query_text(q, 2), e) < 0)
			return -1;
	return row;
}

int catalog_shared(struct catalog *c, catalog_shared_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, FILES_SHARED, e);
	if (!q)
		return -1;
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), (uint64_t)query_int(q, 1), (uint64_t)query_int(q, 2),
			    e) < 0)
			return -1;
	return row;
}

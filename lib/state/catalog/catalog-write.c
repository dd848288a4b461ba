// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-write.h"

#include "lib/base/mem.h"
#include "lib/state/catalog/arrivals.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/catalog-told.h"

int catalog_enlarge_cache(struct catalog *c, struct err *e)
{
	return catalog_run(c, LARGE_CACHE, e);
}

int catalog_begin(struct catalog *c, struct catalog_transaction *out, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_run(c, BEGIN_WRITE, e) < 0)
		return -1;
	t.catalog = c;
	if (catalog_run(c, NEXT_CHANGE, e) < 0 || arrivals_load(c, e) < 0 || told_load(c, e) < 0)
		return -1;
	out->catalog = STEAL_PTR(t.catalog);
	return 0;
}

int catalog_commit(struct catalog_transaction *t, struct err *e)
{
	struct catalog *c = t->catalog;
	CLEANUP(arrivals_release) struct arrivals_unsaved unsaved = {0};
	if (told_save(c, e) < 0 || arrivals_collect(c, &unsaved, e) < 0 || catalog_run(c, COMMIT_WRITE, e) < 0)
		return -1;
	t->catalog = NULL;
	catalog_committed(c);
	return arrivals_save(c, &unsaved, e);
}

int catalog_mend_state(struct catalog *c, struct err *e)
{
	int is_torn = arrivals_check(c, false, e);
	if (is_torn <= 0)
		return is_torn;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	return catalog_begin(c, &t, e) < 0 || arrivals_check(c, true, e) < 0 ? -1 : catalog_commit(&t, e);
}

void catalog_rollback(struct catalog_transaction *t)
{
	struct err ignored = ERR_INIT;
	struct catalog *c = STEAL_PTR(t->catalog);
	if (c && catalog_run(c, ROLLBACK_WRITE, &ignored) < 0)
		return;
}

int catalog_platform_ensure(struct catalog *c, const char *name, int64_t *id, struct err *e)
{
	struct err missing = ERR_INIT;
	if (catalog_platform_find(c, name, id, &missing) == 0)
		return 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	return catalog_run_by(c, PLATFORM_ADD, BY(SQL_TEXT(name)), e) < 0 ? -1 : catalog_platform_find(c, name, id, e);
}

int catalog_platform_add(struct catalog *c, const char *name, int64_t *id, struct err *e)
{
	struct err missing = ERR_INIT;
	if (catalog_platform_find(c, name, id, &missing) == 0)
		return 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	return catalog_platform_ensure(c, name, id, e) < 0 ? -1 : catalog_commit(&t, e);
}

int catalog_claim(struct catalog *c, const char *store, struct err *e)
{
	int is_new = catalog_is_of(c, store, e);
	if (is_new <= 0)
		return is_new;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	is_new = catalog_is_of(c, store, e); // another process may have recorded it meanwhile
	if (is_new <= 0)
		return is_new;
	return catalog_run_by(c, STORE_SET, BY(SQL_TEXT(store)), e) < 0 ? -1 : catalog_commit(&t, e);
}

static int clear_platform(void *ctx, const struct catalog_platform *p, struct err *e)
{
	return catalog_platform_clear(ctx, p->id, e);
}

int catalog_adopt(struct catalog *c, const char *store, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || catalog_platforms(c, clear_platform, c, e) < 0 ||
		catalog_run(c, PLAN_CLEAR, e) < 0)
		return -1;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, STORE_MOVE, BY(SQL_TEXT(store)), e);
	return query_run(q, e) < 0 ? -1 : catalog_commit(&t, e);
}

int catalog_set_scanned(struct catalog *c, struct err *e)
{
	return catalog_run(c, SCANNED_SET, e);
}

int catalog_platform_set_scanned(struct catalog *c, int64_t platform, enum catalog_scanned scanned, struct err *e)
{
	return catalog_run_by(c, PLATFORM_SCANNED_SET, BY(SQL_INT(platform), SQL_INT(scanned)), e);
}

int catalog_platforms(struct catalog *c, catalog_platform_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLATFORM_LIST, e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_platform platform = {
			query_int(q, 0), query_text(q, 1), (uint64_t)query_int(q, 2), (uint64_t)query_int(q, 3)};
		if (fn(ctx, &platform, e) < 0)
			return -1;
	}
	return row;
}

int catalog_platform_clear(struct catalog *c, int64_t platform, struct err *e)
{
	if (catalog_platform_set_scanned(c, platform, CATALOG_NOT_TRIED, e) < 0)
		return -1;
	return catalog_run_by(c, PLATFORM_CLEAR, BY(SQL_INT(platform)), e);
}

static struct catalog_folder folder_of_row(struct query *q)
{
	return (struct catalog_folder){
		query_int(q, 0), query_text(q, 1), query_int(q, 2), query_int(q, 3) != 0, (uint64_t)query_int(q, 4)};
}

int catalog_folder_find(struct catalog *c, int64_t platform, const char *path, struct catalog_folder *out,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_FIND, BY(SQL_INT(platform), SQL_TEXT(path)), e);
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no folder %s in the catalog", path);
	if (row < 0)
		return -1;
	*out = folder_of_row(q);
	out->path = path;
	return 0;
}

int catalog_folder_children(struct catalog *c, int64_t folder, catalog_folder_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_CHILDREN, BY(SQL_INT(folder)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_folder child = folder_of_row(q);
		if (fn(ctx, &child, e) < 0)
			return -1;
	}
	return row;
}

static int add_folder(struct catalog *c, int64_t platform, int64_t parent, const char *path, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_ADD, BY(SQL_INT(platform)), e);
	if (parent)
		query_bind_int(q, 2, parent);
	query_bind_text(q, 3, path);
	if (query_run(q, e) < 0)
		return -1;
	*id = query_new_id(q);
	return 0;
}

int catalog_folder_ensure(struct catalog *c, int64_t platform, const char *path, int64_t *id, struct err *e)
{
	struct err missing = ERR_INIT;
	struct catalog_folder found;
	int64_t parent = 0;
	if (catalog_folder_find(c, platform, path, &found, &missing) == 0) {
		*id = found.id;
		return 0;
	}
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	long slash = str_rfind(str_from(path), '/');
	CLEANUP(mem_free) char *above = xstrndup(path, slash < 0 ? 0 : (size_t)slash);
	if (*path && catalog_folder_ensure(c, platform, above, &parent, e) < 0)
		return -1;
	return add_folder(c, platform, parent, path, id, e);
}

int catalog_folder_set(struct catalog *c, const struct catalog_folder *folder, struct err *e)
{
	return catalog_run_by(c, FOLDER_SET, BY(SQL_INT(folder->id), SQL_INT(folder->mtime_ns), SQL_INT(folder->trusted),
		SQL_INT(folder->ignored)), e);
}

int catalog_folder_remove(struct catalog *c, int64_t folder, struct err *e)
{
	return catalog_run_by(c, FOLDER_REMOVE, BY(SQL_INT(folder)), e);
}

// SPDX-License-Identifier: Apache-2.0
// The connection: a database with the change count.
#include "lib/state/catalog/catalog.h"

#include <stdlib.h>

#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/changes.h"
#include "lib/state/database/database.h"

struct catalog {
	struct database *database;
	struct changes *changes; // NULL: read-only, or it cannot be mapped
	int64_t version_seen;    // PRAGMA data_version, 0 before the first look
	uint32_t mark;           // the change count before the running statement began or was retried
};

struct query *catalog_query(struct catalog *c, enum statement id, struct err *e)
{
	struct query *q = query_begin(c->database, id, e);
	if (q)
		c->mark = changes_read(c->changes);
	return q;
}

struct query *catalog_query_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count,
	struct err *e)
{
	c->mark = changes_read(c->changes);
	return query_by(c->database, id, value, count, e);
}

int catalog_run_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count, struct err *e)
{
	c->mark = changes_read(c->changes);
	return query_run_by(c->database, id, value, count, e);
}

int catalog_run(struct catalog *c, enum statement id, struct err *e)
{
	return catalog_run_by(c, id, NULL, 0, e);
}

int catalog_int_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count, int64_t *out,
	struct err *e)
{
	c->mark = changes_read(c->changes);
	return query_int_by(c->database, id, value, count, out, e);
}

// Another connection's commit raises the change count, which ends the wait at once.
static void wait_for_commit(void *ctx, unsigned ms)
{
	struct catalog *c = ctx;
	changes_wait(c->changes, c->mark, ms);
	c->mark = changes_read(c->changes);
}

int catalog_open(const char *path, struct catalog **out, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *c = xcalloc(1, sizeof(*c));
	if (database_open(&schema_kind, path, &c->database, e) < 0)
		return -1;
	c->changes = changes_open(path);
	database_set_wait(c->database, wait_for_commit, c);
	*out = STEAL_PTR(c);
	return 0;
}

int catalog_open_read(const char *path, struct catalog **out, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *c = xcalloc(1, sizeof(*c));
	if (database_open_read(&schema_kind, path, &c->database, e) < 0)
		return e->kind == ERR_NOT_FOUND ? err_advise(e, "wheelcache index makes it, as does a server") : -1;
	*out = STEAL_PTR(c);
	return 0;
}

int catalog_is_current(const struct catalog *c, struct err *e)
{
	return database_is_current(c->database, e);
}

void catalog_limit(struct catalog *c, unsigned ms)
{
	database_limit(c->database, ms);
}

void catalog_close(struct catalog *c)
{
	if (!c)
		return;
	database_close(c->database);
	changes_close(c->changes);
	free(c);
}

void catalog_cleanup(struct catalog **c)
{
	catalog_close(*c);
	*c = NULL;
}

const char *catalog_path(const struct catalog *c)
{
	return database_path(c->database);
}

bool catalog_has_failed(const struct catalog *c)
{
	return database_has_failed(c->database);
}

void catalog_committed(struct catalog *c)
{
	if (!c->changes) // mapping it failed before
		c->changes = changes_open(catalog_path(c));
	changes_raise(c->changes);
}

bool catalog_was_written(struct catalog *c)
{
	struct err ignored = ERR_INIT;
	CLEANUP(query_end) struct query *q = catalog_query(c, DATA_VERSION, &ignored);
	if (query_step(q, &ignored) != 1)
		return true; // the next read reports the error
	int64_t before = c->version_seen;
	c->version_seen = query_int(q, 0);
	return c->version_seen != before;
}

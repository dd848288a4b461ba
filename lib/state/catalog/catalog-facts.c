// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-facts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-query.h"

// The row of these bytes. 1: found; 0: the catalog has no good wheel with them.
static int find_inside(struct catalog *c, const uint8_t *sha256, int64_t *id, int64_t *version, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_FIND, BY(SQL_SHA256(sha256)), e);
	int row = query_step(q, e);
	if (row > 0) {
		*id = query_int(q, 0);
		*version = query_int(q, 1);
	}
	return row;
}

// --- writing ---

static int set_facts(struct catalog *c, int64_t id, struct str packed, struct err *e)
{
	return catalog_run_by(c, INSIDE_SET_FACTS, BY(SQL_INT(id), SQL_STR(packed)), e);
}

static void bind_word(struct query *q, const struct catalog_facts_name *name)
{
	query_bind_int(q, 1, name->kind);
	query_bind_text(q, 2, name->name);
	query_bind_text(q, 3, name->version);
	query_bind_text(q, 4, name->purl);
}

// 1: found; 0: not found.
static int find_word(struct catalog *c, const struct catalog_facts_name *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, INSIDE_WORD_FIND, e);
	bind_word(q, name);
	int row = query_step(q, e);
	if (row > 0)
		*id = query_int(q, 0);
	return row;
}

static int add_word(struct catalog *c, const struct catalog_facts_name *name, int64_t *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, INSIDE_WORD_ADD, e);
	bind_word(q, name);
	if (query_run(q, e) < 0)
		return -1;
	*id = query_new_id(q);
	return 0;
}

static int add_uses(struct catalog *c, int64_t id, const struct catalog_facts *inside, struct err *e)
{
	for (size_t i = 0; i < inside->names; i++) {
		int64_t word = 0;
		int found = find_word(c, &inside->name[i], &word, e);
		if (found < 0 || (!found && add_word(c, &inside->name[i], &word, e) < 0) ||
			catalog_run_by(c, INSIDE_USE_ADD, BY(SQL_INT(word), SQL_INT(id)), e) < 0)
			return -1;
	}
	return 0;
}

static int add_slice(struct catalog *c, int64_t id, unsigned slice, const struct buf *hashes, struct err *e)
{
	return catalog_run_by(c, INSIDE_SYMBOL_ADD, BY(SQL_INT(slice), SQL_INT(id), SQL_STR(buf_view(hashes))), e);
}

static int add_symbols(struct catalog *c, int64_t id, const struct name_hashes *symbols, struct err *e)
{
	for (unsigned i = 0; i < NAME_HASHES_SLICES; i++)
		if (symbols->slice[i].len && add_slice(c, id, i, &symbols->slice[i], e) < 0)
			return -1;
	return 0;
}

static int forget_inside(struct catalog *c, int64_t id, struct err *e)
{
	static const enum statement statement[] = {INSIDE_FORGET_USES, INSIDE_FORGET_SYMBOLS, INSIDE_FORGET_FACTS};
	for (size_t i = 0; i < ARRAY_SIZE(statement); i++)
		if (catalog_run_by(c, statement[i], BY(SQL_INT(id)), e) < 0)
			return -1;
	return 0;
}

int catalog_facts_put(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const struct catalog_facts *inside,
	struct err *e)
{
	int64_t id, version;
	int found = find_inside(c, sha256, &id, &version, e);
	if (found <= 0)
		return found;
	if (version && forget_inside(c, id, e) < 0)
		return -1;
	if (catalog_run_by(c, INSIDE_SET, BY(SQL_INT(id), SQL_INT(inside->version), SQL_TEXT(inside->why)), e) < 0)
		return -1;
	if (inside->why)
		return 0;
	if (set_facts(c, id, inside->packed, e) < 0 || add_uses(c, id, inside, e) < 0)
		return -1;
	return inside->symbols ? add_symbols(c, id, inside->symbols, e) : 0;
}

// --- reading ---

int catalog_facts_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, struct buf *out,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_GET, BY(SQL_SHA256(sha256)), e);
	int row = query_step(q, e);
	if (row < 0)
		return -1;
	if (!row || query_int(q, 0) != version)
		return err_set(e, ERR_NOT_FOUND, "the catalog has no facts of it yet");
	const char *why = query_text(q, 1);
	if (why)
		return err_set(e, ERR_NOT_FOUND, "%s", why);
	buf_str(out, query_bytes(q, 2));
	return 0;
}

int catalog_facts_is_known(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, bool *known,
	struct err *e)
{
	int64_t id, have;
	int row = find_inside(c, sha256, &id, &have, e);
	*known = row > 0 && have == version;
	return row < 0 ? -1 : 0;
}

int catalog_facts_count(struct catalog *c, int version, struct catalog_facts_counts *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_COUNTS, BY(SQL_INT(version)), e);
	if (query_step(q, e) < 0)
		return -1;
	uint64_t looked = (uint64_t)query_int(q, 0);
	out->unreadable = (uint64_t)query_int(q, 1);
	out->known = looked - out->unreadable;
	out->lacking = (uint64_t)query_int(q, 2) - looked;
	return 0;
}

static int take_ids(struct query *q, int64_t **id, size_t *count, struct err *e)
{
	CLEANUP(mem_free) int64_t *found = NULL;
	size_t have = 0, room = 0;
	int row;
	while ((row = query_step(q, e)) > 0) {
		GROW(found, have, room);
		found[have++] = query_int(q, 0);
	}
	*id = STEAL_PTR(found);
	*count = have;
	return row;
}

int catalog_facts_lacking(struct catalog *c, int version, int64_t **id, size_t *count, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_LACKING, BY(SQL_INT(version)), e);
	return take_ids(q, id, count, e);
}

// --- digests of members ---

int catalog_facts_id(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int64_t *id, struct err *e)
{
	int64_t version;
	return find_inside(c, sha256, id, &version, e);
}

int catalog_content_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], uint8_t content[SHA256_SIZE],
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_CONTENT_GET, BY(SQL_SHA256(sha256)), e);
	int row = query_step(q, e);
	const uint8_t *found = row > 0 ? query_sha256(q, 0) : NULL;
	if (!found)
		return row < 0 ? -1 : 0;
	memcpy(content, found, SHA256_SIZE);
	return 1;
}

int catalog_content_put(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const uint8_t *content, struct err *e)
{
	const struct query_value value = content ? SQL_BYTES(content, SHA256_SIZE) : SQL_BYTES("\0", 1);
	return catalog_run_by(c, INSIDE_CONTENT_SET, BY(SQL_SHA256(sha256), value), e);
}

int catalog_content_wanted(struct catalog *c, int64_t **id, size_t *count, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, INSIDE_CONTENT_WANTED, e);
	return take_ids(q, id, count, e);
}

int catalog_facts_places(struct catalog *c, int64_t id, catalog_facts_place_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_PLACES, BY(SQL_INT(id)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_facts_place place = {
			.platform = query_int(q, 0),
			.filename = query_text(q, 1),
			.path = query_text(q, 2),
			.sha256 = query_sha256(q, 3),
			.size = (uint64_t)query_int(q, 4),
			.mtime_ns = query_int(q, 5),
			.inode = (uint64_t)query_int(q, 6),
		};
		if (fn(ctx, &place, e) < 0)
			return -1;
	}
	return row;
}

int catalog_facts_words(struct catalog *c, enum catalog_facts_kind kind, catalog_facts_word_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_WORDS, BY(SQL_INT(kind)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_facts_name name = {kind, query_text(q, 1), query_text(q, 2), query_text(q, 3)};
		if (fn(ctx, query_int(q, 0), &name, e) < 0)
			return -1;
	}
	return row;
}

// The first columns of every query for listed wheels.
static struct catalog_facts_wheel wheel_of_row(struct query *q)
{
	return (struct catalog_facts_wheel){
		.platform = query_text(q, 0),
		.project = query_text(q, 1),
		.filename = query_text(q, 2),
		.path = query_text(q, 3),
		.sha256 = query_sha256(q, 4),
		.id = query_int(q, 5),
	};
}

static int each_wheel(struct catalog *c, enum statement id, int64_t of, catalog_facts_wheel_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, id, BY(SQL_INT(of)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_facts_wheel wheel = wheel_of_row(q);
		if (fn(ctx, &wheel, e) < 0)
			return -1;
	}
	return row;
}

int catalog_facts_uses(struct catalog *c, int64_t word, catalog_facts_wheel_fn *fn, void *ctx, struct err *e)
{
	return each_wheel(c, INSIDE_USES, word, fn, ctx, e);
}

int catalog_facts_files(struct catalog *c, int64_t id, catalog_facts_wheel_fn *fn, void *ctx, struct err *e)
{
	return each_wheel(c, INSIDE_FILES, id, fn, ctx, e);
}

int catalog_facts_symbol(struct catalog *c, uint64_t hash, int64_t **id, size_t *count, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, INSIDE_SYMBOLS, e);
	CLEANUP(mem_free) int64_t *found = NULL;
	size_t have = 0, room = 0;
	query_bind_int(q, 1, name_hashes_slice(hash));
	int row;
	while ((row = query_step(q, e)) > 0) {
		if (!name_hashes_has(query_bytes(q, 1), hash))
			continue;
		GROW(found, have, room);
		found[have++] = query_int(q, 0);
	}
	*id = STEAL_PTR(found);
	*count = have;
	return row;
}

int catalog_facts_unknown(struct catalog *c, int version, catalog_facts_unknown_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_UNKNOWN, BY(SQL_INT(version)), e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), (uint64_t)query_int(q, 1), e) < 0)
			return -1;
	return row;
}

int catalog_facts_wheels(struct catalog *c, int64_t platform, const char *project, const char *filename,
	catalog_facts_listed_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, INSIDE_WHEELS, BY(SQL_INT(platform), SQL_TEXT(project),
		SQL_TEXT(filename)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_facts_listed listed = {
			.wheel = wheel_of_row(q),
			.size = (uint64_t)query_int(q, 6),
			.mtime_ns = query_int(q, 7),
			.inode = (uint64_t)query_int(q, 8),
			.version = (int)query_int(q, 9),
			.why = query_text(q, 10),
			.packed = query_bytes(q, 11),
		};
		if (fn(ctx, &listed, e) < 0)
			return -1;
	}
	return row;
}

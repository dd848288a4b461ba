// SPDX-License-Identifier: Apache-2.0
// Running the catalog's statements: what catalog.c offers to the other catalog-*.c, and to nobody
// else. A query is a statement in use; it belongs to its connection and is given back by query_end.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/state/catalog/schema.h"

struct catalog;
struct query;

// Prepared at its first use. One query of a statement at a time.
struct query *query_begin(struct catalog *c, enum statement id, struct err *e) MUST_CHECK;
void query_end(struct query **q); // for CLEANUP; NULL is fine

// Bound from 1. Strings and bytes are borrowed until query_end; NULL is SQL's NULL.
void query_bind_int(struct query *q, int at, int64_t value);
void query_bind_text(struct query *q, int at, const char *text);
void query_bind_bytes(struct query *q, int at, const void *bytes, size_t len);
void query_bind_str(struct query *q, int at, struct str bytes);
void query_bind_sha256(struct query *q, int at, const uint8_t *sha256);

// 1: there is a row, 0: no more, -1: an error.
int query_step(struct query *q, struct err *e) MUST_CHECK;
// Runs a statement that gives no rows.
int query_run(struct query *q, struct err *e) MUST_CHECK;
// The same for one whose parameters are all integers, from the first on.
int query_run_ints(struct catalog *c, enum statement id, const int64_t *values, int count, struct err *e) MUST_CHECK;

// Columns of the row, from 0; strings and bytes live until the next step.
int64_t query_int(struct query *q, int column);
const char *query_text(struct query *q, int column); // NULL where it is NULL
// The same; NULL too where it has more bytes: what an older version wrote had fewer limits.
const char *query_text_within(struct query *q, int column, size_t most);
// The same of a reason: "" where it has more than LIMIT_REASON bytes.
const char *query_reason(struct query *q, int column);
struct str query_bytes(struct query *q, int column); // ptr NULL where it is NULL
// NULL where it is no SHA-256.
const uint8_t *query_sha256(struct query *q, int column);

// After a commit: whoever follows the catalog is told (lib/state/catalog/changes.h).
void query_committed(struct catalog *c);

// Of the last INSERT.
int64_t query_new_id(struct query *q);

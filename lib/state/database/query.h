// SPDX-License-Identifier: Apache-2.0
// A query: a statement of a database that is in use. It belongs to its connection, and query_end gives it back. One
// thread at a time for each connection. Errors as in database.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

struct database;
struct query;

// Prepares the statement (a number in the table of the kind) at its first use. NULL on an error, which includes that
// the statement is in use. The caller need not look: without a query nothing is bound, and query_step fails.
struct query *query_begin(struct database *d, size_t statement, struct err *e) MUST_CHECK;
void query_end(struct query **q); // for CLEANUP; NULL is fine

// The value of a parameter: SQL_INT(when), SQL_TEXT(name), … Strings and bytes are borrowed until query_end; NULL is
// SQL's NULL.
struct query_value {
	enum { QUERY_INT, QUERY_TEXT, QUERY_BYTES } kind;
	int64_t number;
	const char *text;
	const void *bytes;
	size_t len;
};
#define SQL_INT(value) ((struct query_value){.kind = QUERY_INT, .number = (int64_t)(value)})
#define SQL_TEXT(value) ((struct query_value){.kind = QUERY_TEXT, .text = (value)})
#define SQL_BYTES(value, size) ((struct query_value){.kind = QUERY_BYTES, .bytes = (value), .len = (size)})
#define SQL_STR(value) SQL_BYTES((value).ptr, (value).len)
static inline struct query_value query_sha256_value(const uint8_t *sha256)
{
	return SQL_BYTES(sha256, sha256 ? SHA256_SIZE : 0);
}
#define SQL_SHA256(value) query_sha256_value(value)
// The values of all parameters from 1 on, for the functions with `value` and `count`.
#define BY(...)                                                                                                        \
	(const struct query_value[]){__VA_ARGS__}, sizeof((const struct query_value[]){__VA_ARGS__}) /                 \
							   sizeof(struct query_value)
// query_begin with these values.
struct query *query_by(struct database *d, size_t statement, const struct query_value *value, size_t count,
	struct err *e) MUST_CHECK;
// Runs a statement that returns no rows.
int query_run_by(struct database *d, size_t statement, const struct query_value *value, size_t count,
	struct err *e) MUST_CHECK;
// Reads one integer: 1; or 0, with *out 0, if there is no row.
int query_int_by(struct database *d, size_t statement, const struct query_value *value, size_t count, int64_t *out,
	struct err *e) MUST_CHECK;

// One value. Parameters are numbered from 1.
void query_bind_int(struct query *q, int at, int64_t value);
void query_bind_text(struct query *q, int at, const char *text);
void query_bind_bytes(struct query *q, int at, const void *bytes, size_t len);
void query_bind_str(struct query *q, int at, struct str bytes);
void query_bind_sha256(struct query *q, int at, const uint8_t *sha256);

// 1: there is a row; 0: no more; -1: an error, or q is NULL.
int query_step(struct query *q, struct err *e) MUST_CHECK;
// Runs a statement that returns no rows.
int query_run(struct query *q, struct err *e) MUST_CHECK;
// Columns are numbered from 0. Strings and bytes are borrowed until the next step; SQL's NULL is NULL.
int64_t query_int(struct query *q, int column);
const char *query_text(struct query *q, int column);
// NULL, too, if the text has more than `most` bytes: older versions wrote some columns without a limit.
const char *query_text_within(struct query *q, int column, size_t most);
// A reason: "" if it has more than LIMIT_REASON bytes.
const char *query_reason(struct query *q, int column);
struct str query_bytes(struct query *q, int column); // SQL's NULL: ptr is NULL
// NULL if it does not have the size of a SHA-256.
const uint8_t *query_sha256(struct query *q, int column);

// Of the last INSERT.
int64_t query_new_id(struct query *q);

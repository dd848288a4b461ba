// SPDX-License-Identifier: Apache-2.0
// What is made of the calls in database.c.
#include "lib/state/database/query.h"

#include "lib/base/limits.h"

void query_bind_str(struct query *q, int at, struct str bytes)
{
	query_bind_bytes(q, at, bytes.ptr, bytes.len);
}

void query_bind_sha256(struct query *q, int at, const uint8_t *sha256)
{
	query_bind_bytes(q, at, sha256, sha256 ? SHA256_SIZE : 0);
}

int query_run(struct query *q, struct err *e)
{
	return query_step(q, e) < 0 ? -1 : 0;
}

struct query *query_by(struct database *d, size_t statement, const struct query_value *value, size_t count,
	struct err *e)
{
	struct query *q = query_begin(d, statement, e);
	for (size_t i = 0; q && i < count; i++)
		if (value[i].kind == QUERY_INT)
			query_bind_int(q, (int)i + 1, value[i].number);
		else if (value[i].kind == QUERY_TEXT)
			query_bind_text(q, (int)i + 1, value[i].text);
		else
			query_bind_bytes(q, (int)i + 1, value[i].bytes, value[i].len);
	return q;
}

int query_run_by(struct database *d, size_t statement, const struct query_value *value, size_t count, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(d, statement, value, count, e);
	return query_run(q, e);
}

int query_int_by(struct database *d, size_t statement, const struct query_value *value, size_t count, int64_t *out,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(d, statement, value, count, e);
	int row = query_step(q, e);
	*out = row > 0 ? query_int(q, 0) : 0;
	return row;
}

const char *query_reason(struct query *q, int column)
{
	const char *reason = query_text_within(q, column, LIMIT_REASON);
	return !reason && query_text(q, column) ? "" : reason;
}

const uint8_t *query_sha256(struct query *q, int column)
{
	struct str bytes = query_bytes(q, column);
	return bytes.len == SHA256_SIZE ? (const uint8_t *)bytes.ptr : NULL;
}

// SPDX-License-Identifier: Apache-2.0
// What is made of the calls in database.c.
#include "lib/state/database/query.h"

#include "lib/base/limits.h"
#include "lib/format/digest.h"

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

int query_run_ints(struct database *d, size_t statement, const int64_t *values, int count, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(d, statement, e);
	if (!q)
		return -1;
	for (int i = 0; i < count; i++)
		query_bind_int(q, i + 1, values[i]);
	return query_run(q, e);
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

// SPDX-License-Identifier: Apache-2.0
// Conditional and range requests: a range is within the entity, and only its own entity tag matches. An input is three
// lines: Range, If-None-Match, If-Range.
#include "server/message/reply.h"

#include <inttypes.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define ETAG "\"abc\""

static void check_range(const char *header, uint64_t size)
{
	struct range r = range_parse(header, size);
	HOLDS(r.kind == RANGE_WHOLE || (header && strcasestr(header, "bytes=")));
	HOLDS(r.kind != RANGE_UNSATISFIABLE || strpbrk(header, "0123456789"));
	if (r.kind != RANGE_PART)
		return;
	HOLDS(r.first <= r.last && r.last < size);
	CLEANUP(mem_free) char *text = xasprintf("bytes=%" PRIu64 "-%" PRIu64, r.first, r.last);
	struct range continuation = range_parse(text, size);
	HOLDS(continuation.kind == RANGE_PART && continuation.first == r.first && continuation.last == r.last);
}

static void check_etags(const char *if_none_match, const char *if_range)
{
	struct str all = str_trim(str_from(if_none_match ? if_none_match : ""));
	if (etag_matches(if_none_match, ETAG))
		HOLDS(str_eq(all, STR("*")) || strstr(if_none_match, ETAG));
	if (if_range_holds(if_range, ETAG))
		HOLDS(!if_range || str_eq(str_trim(str_from(if_range)), STR(ETAG)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint64_t sizes[] = {0, 1, 2, 1000, 1ULL << 32, UINT64_MAX - 1, UINT64_MAX};
	struct str rest = fuzz_text(bytes, size);
	CLEANUP(mem_free) char *range = fuzz_take(&rest, '\n');
	CLEANUP(mem_free) char *match = fuzz_take(&rest, '\n');
	CLEANUP(mem_free) char *if_range = fuzz_take(&rest, '\n');
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		check_range(range, sizes[i]);
	check_etags(match, if_range);
	return 0;
}

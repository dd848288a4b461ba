// SPDX-License-Identifier: Apache-2.0
#include "server/message/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

#define MANY "99999999999999999999999"

static const struct {
	const char *header;
	uint64_t size;
	struct range want;
} ranges[] = {
	{NULL, 10, {RANGE_WHOLE, 0, 0}},
	{"", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=0-0", 10, {RANGE_PART, 0, 0}},
	{"bytes=2-5", 10, {RANGE_PART, 2, 5}},
	{"bytes=0-9", 10, {RANGE_PART, 0, 9}},
	{"bytes=0-10", 10, {RANGE_PART, 0, 9}},
	{"bytes=9-", 10, {RANGE_PART, 9, 9}},
	{"BYTES=3-", 10, {RANGE_PART, 3, 9}},
	{" bytes=3- ", 10, {RANGE_PART, 3, 9}},
	{"bytes=0-" MANY, 10, {RANGE_PART, 0, 9}},
	{"bytes=-3", 10, {RANGE_PART, 7, 9}},
	{"bytes=-10", 10, {RANGE_PART, 0, 9}},
	{"bytes=-" MANY, 10, {RANGE_PART, 0, 9}},
	{"bytes=0-", UINT64_MAX, {RANGE_PART, 0, UINT64_MAX - 1}},
	{"bytes=10-", 10, {RANGE_UNSATISFIABLE, 0, 0}},
	{"bytes=10-20", 10, {RANGE_UNSATISFIABLE, 0, 0}},
	{"bytes=" MANY "-", 10, {RANGE_UNSATISFIABLE, 0, 0}},
	{"bytes=-0", 10, {RANGE_UNSATISFIABLE, 0, 0}},
	{"bytes=0-", 0, {RANGE_UNSATISFIABLE, 0, 0}},
	{"bytes=-5", 0, {RANGE_WHOLE, 0, 0}},
	// Ignored: several ranges, malformed ones, other units.
	{"bytes=0-1,4-5", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=-1,-2", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=5-2", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=-", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=--1", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=1", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=a-b", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=1-2x", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=1 -2", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes=+1-2", 10, {RANGE_WHOLE, 0, 0}},
	{"bytes 1-2", 10, {RANGE_WHOLE, 0, 0}},
	{"items=1-2", 10, {RANGE_WHOLE, 0, 0}},
};

static void range_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct range got = range_parse(ranges[i].header, ranges[i].size), want = ranges[i].want;
		bool same = got.kind == want.kind &&
			    (got.kind != RANGE_PART || (got.first == want.first && got.last == want.last));
		if (!same)
			fail_msg("Range '%s': %d %llu-%llu", ranges[i].header, (int)got.kind,
				(unsigned long long)got.first, (unsigned long long)got.last);
	}
}

static const struct {
	const char *header;
	bool none_match, range_holds;
} etags[] = {
	{NULL, false, true},
	{"", false, false},
	{"\"abc\"", true, true},
	{" \"abc\" ", true, true},
	{"W/\"abc\"", true, false},
	{"*", true, false},
	{"\"x\", \"abc\"", true, false},
	{"\"x\",W/\"y\" ,\t\"abc\"", true, false},
	{"\"a,b\", \"abc\"", true, false},
	{"\"abcd\"", false, false},
	{"\"ab\"", false, false},
	{"\"ABC\"", false, false},
	{"abc", false, false},
	{"\"abc", false, false},
	{"w/\"abc\"", false, false},
	{"x, \"abc\"", false, false},
	{"Sat, 29 Oct 1994 19:43:31 GMT", false, false},
};

static void entity_tags(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(etags); i++) {
		if (etag_matches(etags[i].header, "\"abc\"") != etags[i].none_match)
			fail_msg("If-None-Match '%s'", etags[i].header);
		if (if_range_holds(etags[i].header, "\"abc\"") != etags[i].range_holds)
			fail_msg("If-Range '%s'", etags[i].header);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(range_headers), cmocka_unit_test(entity_tags)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/wheel-compare.h"

#include "lib/base/mem.h"

static void set_members(struct wheel_content *c, const char *dist_info, const char *const *path, size_t count)
{
	*c = (struct wheel_content){.dist_info = dist_info, .members = count, .has_hashes = true};
	c->member = xcalloc(count + 1, sizeof(*c->member));
	for (size_t i = 0; i < count; i++)
		c->member[i].path = path[i];
}

static const struct {
	const char *a, *b;
	bool is_pair, has_own_name;
} table[] = {
	{"x.py", "x.py", true, false},
	{"x.py", "y.py", false, false},
	{"p-1.dist-info/METADATA", "p-2.dist-info/METADATA", true, false},
	{"p-1.data/scripts/x", "p-2.data/scripts/x", true, false},
	{"x/p-1.data/y", "x/p-2.data/y", false, false},
	{"q-1.dist-info/METADATA", "q-2.dist-info/METADATA", false, false},
	{"p/_x.cpython-311-x86_64-linux-gnu.so", "p/_x.cpython-312-x86_64-linux-gnu.so", true, true},
	{"p/_x.abi3.so", "p/_x.cp312-win_amd64.pyd", false, false},
	{"p/_x.abi3.so", "q/_x.abi3.so", false, false},
	{"p.libs/libssl-3a1b2c3d.so.3", "p.libs/libssl-99999999.so.3", true, true},
	{"p.libs/libssl-3a1b2c3d.so.1.1", "p.libs/libssl-99999999.so.3", true, true},
	{"p.libs/libssl-3a1b2c3d.so.3", "p.libs/libtls-3a1b2c3d.so.3", false, false},
	{"p.libs/libgfortran-040039e1.so.5.0.0", "p.libs/libgfortran-040039e1-0352e75f.so.5.0.0", true, true},
	{"p/libssl-3a1b2c3d.so.3", "p/libssl-99999999.so.3", false, false},
};

static void members_are_matched(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct wheel_content a, b;
		CLEANUP(arena_release) struct arena text = {0};
		struct member_pairs pairs;
		set_members(&a, "p-1.dist-info", &table[i].a, 1);
		set_members(&b, "p-2.dist-info", &table[i].b, 1);
		member_pairs_make(&a, &b, &text, &pairs);
		if (pairs.count != (table[i].is_pair ? 1 : 2) || pairs.pair[0].has_own_name != table[i].has_own_name)
			fail_msg("%s %s: %zu", table[i].a, table[i].b, pairs.count);
		free(a.member);
		free(b.member);
	}
}

// A member keeps its own name's partner, whatever others are called.
static void an_equal_path_comes_first(void **state)
{
	(void)state;
	const char *const left[] = {"p.libs/libz-0a0a0a0a.so.1", "p.libs/libz-1b1b1b1b.so.1"};
	const char *const right[] = {"p.libs/libz-1b1b1b1b.so.1", "p.libs/libz-2c2c2c2c.so.1"};
	struct wheel_content a, b;
	CLEANUP(arena_release) struct arena text = {0};
	struct member_pairs pairs;
	set_members(&a, "p-1.dist-info", left, 2);
	set_members(&b, "p-1.dist-info", right, 2);
	member_pairs_make(&a, &b, &text, &pairs);
	assert_int_equal(pairs.count, 2);
	assert_string_equal(pairs.pair[0].b->path, "p.libs/libz-2c2c2c2c.so.1");
	assert_string_equal(pairs.pair[1].a->path, pairs.pair[1].b->path);
	free(a.member);
	free(b.member);
}

static void a_hundred_thousand_members_are_matched(void **state)
{
	enum { COUNT = 100000 };
	(void)state;
	struct arena text = {0};
	CLEANUP(mem_free) const char **left = xcalloc(COUNT, sizeof(*left)), **right = xcalloc(COUNT, sizeof(*right));
	for (unsigned i = 0; i < COUNT; i++) {
		char path[64];
		snprintf(path, sizeof(path), "p.libs/liba-%08x.so.%u", i, i % 3);
		left[i] = arena_copy(&text, str_from(path));
		snprintf(path, sizeof(path), "p.libs/liba-%08x.so.%u", i + COUNT, i % 3);
		right[i] = arena_copy(&text, str_from(path));
	}
	struct wheel_content a, b;
	struct member_pairs pairs;
	set_members(&a, "p-1.dist-info", left, COUNT);
	set_members(&b, "p-1.dist-info", right, COUNT);
	member_pairs_make(&a, &b, &text, &pairs);
	assert_int_equal(pairs.count, COUNT);
	free(a.member);
	free(b.member);
	arena_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_matched),
		cmocka_unit_test(an_equal_path_comes_first),
		cmocka_unit_test(a_hundred_thousand_members_are_matched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/fake-catalog.h"

static char beta[] = "beta", tested[] = "tested";
static struct view views[] = {
	{.generation = GENERATION_NEWEST},
	{.name = beta, .generation = GENERATION_NEWEST},
	{.name = tested, .membership = tested, .generation = GENERATION_NEWEST},
};
static _Atomic int64_t newest[ARRAY_SIZE(views)];
static const struct site site = {.view = views, .view_count = ARRAY_SIZE(views), .newest = newest};

static const struct {
	const char *name;
	const struct view *view;
	const char *when; // NULL: none
	int64_t at;       // -1: it is no time of this view
} names[] = {
	{"", &views[0], NULL, 0},
	{"beta", &views[1], NULL, 0},
	{"tested", &views[2], NULL, 0},
	{"other", NULL, NULL, 0},
	{"tested@2026-11-20", &views[2], "2026-11-20", 1795219199},
	{"tested@2026-11-20T06:00:00Z", &views[2], "2026-11-20T06:00:00Z", 1795154400},
	{"tested@1970-01-01T00:00:00Z", &views[2], "1970-01-01T00:00:00Z", 1},
	{"tested@", &views[2], "", -1},
	{"tested@2026-11-20T06:00:00Z@", &views[2], "2026-11-20T06:00:00Z@", -1},
	{"tested@2026-11-20@2026-11-20", &views[2], "2026-11-20@2026-11-20", -1},
	{"tested@now", &views[2], "now", -1},
	{"beta@2026-11-20", &views[1], "2026-11-20", -1},
	{"other@2026-11-20", NULL, "2026-11-20", 0},
	{"@2026-11-20", NULL, "2026-11-20", 0},
	{"@", NULL, "", 0},
};

static void test_names(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct str when;
		int64_t at = -1;
		assert_ptr_equal(view_time_split(&site, str_from(names[i].name), &when), names[i].view);
		assert_int_equal(when.ptr != NULL, names[i].when != NULL);
		assert_true(!names[i].when || str_eq(when, str_from(names[i].when)));
		if (!names[i].view || !names[i].when)
			continue;
		const char *wrong = view_time_read(names[i].view, when, &at);
		assert_int_equal(wrong != NULL, names[i].at < 0);
		assert_true(wrong || at == names[i].at);
	}
}

// The fake catalog makes a generation each second.
static void test_generations(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct view past;
	newest[2] = 9;
	assert_int_equal(view_time_find(&site, &views[2], NULL, 7, &past, &e), 0);
	assert_int_equal(past.generation, 7);
	assert_int_equal(site_generation(&site, &past), 7);
	assert_false(site_is_incomplete(&site, &past));
	assert_ptr_equal(past.name, tested);
	newest[2] = GENERATION_UNKNOWN;
	assert_int_equal(view_time_find(&site, &views[2], NULL, 7, &past, &e), 0);
	assert_true(site_is_incomplete(&site, &past));
	newest[2] = 9;
	fake_fails = true;
	assert_int_equal(view_time_find(&site, &views[2], NULL, 7, &past, &e), -1);
	fake_fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_generations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/fake-catalog.h"

static const char *const platforms[] = {"alpha", "beta", "gamma"};
static char beta[] = "beta", alpha[] = "alpha", both[] = "both";
static char *both_platforms[] = {beta, alpha};
static struct config_upstream other_index = {.name = (char[]){"upstream"}};

static struct store store_of(size_t count)
{
	struct store s = {.platform = xcalloc(count, sizeof(*s.platform)), .platform_count = count};
	for (size_t i = 0; i < count; i++)
		s.platform[i].name = xstrdup(platforms[i]);
	return s;
}

// Of the views "/simple/", alpha, beta, gamma and both: whose clients get upstream's files. The store stays the
// caller's.
static void clients_have_upstream_as_the_configuration_says(void **state UNUSED)
{
	static char no[] = "no", yes[] = "yes", some[] = "/simple/ b*", merge[] = "merge";
	const struct {
		char *clients, *upstream;
		const char *has;
	} rows[] = {{no, NULL, "-----"}, {yes, NULL, "+++++"}, {some, NULL, "+-+-+"}, {no, merge, "----+"}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct site s;
		CLEANUP(store_release) struct store store = store_of(3);
		struct config_view view = {
			.name = both, .platforms = both_platforms, .platform_count = 2, .upstream = rows[i].upstream};
		const struct config c = {.upstreams = {&other_index, 1},
			.views = &view,
			.view_count = 1,
			.prune_clients_have_upstream = rows[i].clients};
		assert_int_equal(site_borrow(&s, &c, &store, NULL, &e), 0);
		for (size_t k = 0; k < 5; k++)
			if (s.view[k].has_upstream != (rows[i].has[k] == '+'))
				fail_msg("row %zu, view %zu", i, k);
		assert_int_equal(site_has_upstream(&s, NULL, &store.platform[0]), rows[i].has[0] == '+');
		assert_int_equal(site_has_upstream(&s, &s.view[4], &store.platform[0]), rows[i].has[4] == '+');
		site_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_have_upstream_as_the_configuration_says),
	};
	fake_platform = platforms;
	fake_platform_count = ARRAY_SIZE(platforms);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

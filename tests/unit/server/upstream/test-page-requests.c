// SPDX-License-Identifier: Apache-2.0
// How many clients may wait for pages of upstream. test-upstream-pages.c has the rest.
#include "server/upstream/page-requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "tests/unit/support/sleeper.h"

enum { FIRST = 1 }; // it is under way, and does not wait

static void begin_none(void *ctx UNUSED, const char *project UNUSED)
{
}

// Asks for pages, each for another project, until one is refused. Returns how many were not.
static size_t ask_until_full(struct page_requests *a, const char *peer, struct sleeper *s)
{
	char project[32];
	for (size_t i = 0; i <= LIMIT_PAGES_WAITING; i++) {
		snprintf(project, sizeof(project), "p%zu-of-%s", i, peer);
		sleeper_init(&s[i]);
		if (page_requests_join(a, project, peer, &s[i].base) == PAGE_REQUESTS_FULL)
			return i;
	}
	return LIMIT_PAGES_WAITING + 1;
}

// Exceeds LIMIT_PAGES_WAITING.
static void waiting_pages_are_limited(void **state UNUSED)
{
	enum { SHARE = LIMIT_PAGES_WAITING / 4 * 3 };
	struct sleeper *s = xcalloc(2 * (LIMIT_PAGES_WAITING + 1), sizeof(*s)), *others = s + LIMIT_PAGES_WAITING + 1;
	struct page_requests *a = page_requests_new(1, NULL, begin_none, NULL);
	assert_int_equal(ask_until_full(a, "192.0.2.1", s), SHARE + FIRST);
	assert_int_equal(ask_until_full(a, "192.0.2.2", others), LIMIT_PAGES_WAITING - SHARE);
	page_requests_cancel(a);
	assert_int_equal(s[SHARE].woken, 1);
	page_requests_free(a);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(waiting_pages_are_limited)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

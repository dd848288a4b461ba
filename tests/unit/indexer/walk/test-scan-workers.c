// SPDX-License-Identifier: Apache-2.0
// Which wheels have their facts taken while they are scanned.
#include "indexer/walk/scan-workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static struct catalog *catalog;
static char path[32];

static int open_catalog(void **state UNUSED)
{
	struct err e = ERR_INIT;
	snprintf(path, sizeof(path), "test-scan-workers.XXXXXX");
	close(mkstemp(path));
	return catalog_open(path, &catalog, &e);
}

static int close_catalog(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -f '%s'*", path);
	catalog_close(catalog);
	return system(command);
}

static bool begins(struct scan_workers *w, uint8_t sha)
{
	return scan_workers_begin_inside(w, (const uint8_t[SHA256_SIZE]){sha});
}

// Exceeds LIMIT_INSIDE_WAITING. What was refused is left to facts-backfill, and so is not remembered as begun.
static void facts_that_wait_are_bounded(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct store store = {0};
	const struct scan_workers_options options = {.store = &store, .catalog = path, .threads = 1};
	CLEANUP(scan_workers_cleanup) struct scan_workers *w = scan_workers_new(&options, &e);
	bool ended = false;
	if (!w)
		fail_msg("%s", e.msg);
	assert_true(begins(w, 1));
	assert_false(begins(w, 1));
	scan_workers_inside_waits(w, LIMIT_INSIDE_WAITING);
	assert_true(begins(w, 2));
	scan_workers_inside_waits(w, 1);
	assert_false(begins(w, 3));
	scan_workers_inside_waits(w, -1);
	assert_true(begins(w, 3));
	scan_workers_start_done(w);
	assert_null(scan_workers_receive(w, 1000, &ended));
	assert_true(ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(facts_that_wait_are_bounded, open_catalog, close_catalog),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

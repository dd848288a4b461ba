// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/volume-release.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static char folder[32];

static int make_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "test-release.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static off_t want(const char *filename)
{
	char name[] = "p", words[] = "true";
	const struct platform p = {.name = name, .release = words};
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(mem_free) char *catalog = xasprintf("%s/catalog.db", folder);
	CLEANUP(mem_free) char *path = xasprintf("%s.release/p.wanted", catalog);
	if (volume_release_want(catalog, &p, "f", filename, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

// Exceeds LIMIT_RELEASE. The release is still wanted; further files are only not listed.
static void a_long_list_grows_no_more(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db.release/p.wanted", folder);
	off_t one = want("one.whl");
	assert_int_equal(want("two.whl"), 2 * one);
	assert_int_equal(truncate(path, LIMIT_RELEASE), 0);
	assert_int_equal(want("three.whl"), LIMIT_RELEASE);
	assert_int_equal(truncate(path, LIMIT_RELEASE - 1), 0);
	assert_true(want("four.whl") > LIMIT_RELEASE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_long_list_grows_no_more, make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

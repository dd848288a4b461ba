// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/state-files.h"

static void default_path_is_one_a_store(void **state UNUSED)
{
	unsetenv("STATE_DIRECTORY");
	setenv("XDG_STATE_HOME", "/state", 1);
	CLEANUP(mem_free) char *one = catalog_default_path("/srv/wheels");
	CLEANUP(mem_free) char *two = catalog_default_path("/mnt/wheels");
	assert_memory_equal(one, "/state/wheelcache/wheels-", 25);
	assert_string_not_equal(one, two);
	setenv("STATE_DIRECTORY", "/var/lib/a:/var/lib/b", 1);
	CLEANUP(mem_free) char *service = catalog_default_path("/");
	assert_memory_equal(service, "/var/lib/a/root-", 16);
	unsetenv("STATE_DIRECTORY");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/me", 1);
	CLEANUP(mem_free) char *home = catalog_default_path("/srv/wheels");
	assert_memory_equal(home, "/home/me/.local/state/wheelcache/wheels-", 40);
	unsetenv("HOME");
	CLEANUP(mem_free) char *none = catalog_default_path("/srv/wheels");
	assert_memory_equal(none, "/var/lib/wheelcache/wheels-", 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_path_is_one_a_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

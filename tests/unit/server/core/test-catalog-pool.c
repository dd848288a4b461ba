// SPDX-License-Identifier: Apache-2.0
// A catalog that is removed while a server runs: until the pool is renewed, it opens no other file in its place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/state/catalog/catalog.h"
#include "server/core/catalog-pool.h"

static char folder[] = "/tmp/wheelcache-pool-XXXXXX";

static char *catalog_file(const char *ending)
{
	return xasprintf("%s/catalog.db%s", folder, ending);
}

static void remove_catalog(void)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *path = catalog_file(ending[i]);
		unlink(path);
	}
}

static int make_folder(void **state UNUSED)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	remove_catalog();
	return rmdir(folder);
}

static void make_catalog(const char *path)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	assert_int_equal(catalog_open(path, &c, &e), 0);
	catalog_close(c);
}

static void takes(struct catalog_pool *r, struct catalog_lease *out)
{
	struct err e = ERR_INIT;
	assert_int_equal(catalog_pool_take(r, out, &e), 0);
}

static void refuses(struct catalog_pool *r)
{
	struct err e = ERR_INIT;
	struct catalog_lease lease;
	assert_int_equal(catalog_pool_take(r, &lease, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_null(lease.catalog);
}

static void test_removed_catalog_is_not_replaced(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = catalog_file("");
	struct catalog_lease first, second;
	make_catalog(path);
	struct catalog_pool *r = catalog_pool_new(path);
	takes(r, &first);
	remove_catalog();
	refuses(r);
	assert_int_equal(access(path, F_OK), -1); // no empty one was made
	catalog_pool_give(r, &first);
	takes(r, &first); // what is open goes on
	make_catalog(path);
	refuses(r);
	catalog_pool_renew(r);
	takes(r, &second);
	assert_true(first.generation < second.generation);
	catalog_pool_give(r, &first);
	catalog_pool_give(r, &second);
	catalog_pool_free(r);
}

static void test_removed_again_before_the_renewal(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = catalog_file("");
	make_catalog(path);
	struct catalog_pool *r = catalog_pool_new(path);
	remove_catalog();
	catalog_pool_renew(r);
	refuses(r);
	assert_int_equal(access(path, F_OK), -1);
	catalog_pool_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_removed_catalog_is_not_replaced),
		cmocka_unit_test(test_removed_again_before_the_renewal),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

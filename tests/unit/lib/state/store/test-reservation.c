// SPDX-License-Identifier: Apache-2.0
// The slots of uploads that are under way. tests/e2e/test_quota_together.py has what several servers do.
#include "lib/state/store/reservation.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lib/base/limits.h"

enum { SLOT = 16 }; // bytes of a slot in the file

static char folder[32];

static int make_folder(void **state UNUSED)
{
	char path[64];
	snprintf(folder, sizeof(folder), "test-reservation.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/catalog.db.reserved", folder);
	return mkdir(path, 0700);
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static int has_nothing(void *ctx UNUSED, struct quota_use *use, struct err *e UNUSED)
{
	*use = (struct quota_use){.free = UINT64_MAX};
	return 0;
}

static char name[] = "p";
static struct platform platform = {.name = name};

static struct reservation *open_one(void)
{
	struct err e = ERR_INIT;
	struct reservation *r = NULL;
	CLEANUP(mem_free) char *catalog = xasprintf("%s/catalog.db", folder);
	if (reservation_open(catalog, &platform, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

// NULL, with *e set: there is no slot.
static struct reservation *reserve(struct err *e)
{
	struct reservation *r = open_one();
	if (reservation_set(r, UINT64_MAX, 1, has_nothing, NULL, e) == 0)
		return r;
	reservation_close(r);
	return NULL;
}

// Exceeds LIMIT_RESERVATIONS. A lock of all slots but one stands for as many uploads: the kernel's time for 4096 locks
// would be minutes.
static void only_so_many_are_under_way(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db.reserved/p", folder);
	struct reservation *first = reserve(&e), *last;
	assert_non_null(first);
	reservation_close(first);
	CLEANUP(mem_close) int fd = open(path, O_RDWR | O_CLOEXEC);
	struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = (LIMIT_RESERVATIONS - 1) * (off_t)SLOT};
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &all), 0);
	last = reserve(&e);
	if (!last)
		fail_msg("%s", e.msg);
	assert_null(reserve(&e));
	assert_int_equal(e.kind, ERR_BUSY);
	assert_string_equal(e.msg, "platform p: 4096 uploads are under way");
	reservation_close(last);
	last = reserve(&e);
	assert_non_null(last);
	reservation_close(last);
}

static int set_bytes(struct reservation *r, uint64_t bytes)
{
	struct err e = ERR_INIT;
	int result = reservation_set(r, UINT64_MAX, bytes, has_nothing, NULL, &e);
	if (result < 0)
		assert_int_equal(e.kind, ERR_FULL);
	return result;
}

// Also before the catalog knows any of them.
static void uploads_under_way_count_for_the_quota(void **state UNUSED)
{
	struct reservation *one = open_one(), *two = open_one(), *three = open_one();
	platform.quota_files = 2;
	assert_int_equal(set_bytes(one, 1), 0);
	assert_int_equal(set_bytes(one, 2), 0); // it is one file still
	assert_int_equal(set_bytes(two, 1), 0);
	assert_int_equal(set_bytes(three, 1), -1);
	reservation_close(one);
	assert_int_equal(set_bytes(three, 1), 0);
	platform.quota_files = 0;
	platform.quota_bytes = 100;
	assert_int_equal(set_bytes(two, 60), 0);
	assert_int_equal(set_bytes(three, 41), -1);
	assert_int_equal(set_bytes(three, 40), 0);
	assert_int_equal(set_bytes(two, 61), -1);
	assert_int_equal(reservation_bytes(two), 60);
	platform.quota_bytes = 0;
	reservation_close(two);
	reservation_close(three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_so_many_are_under_way, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(uploads_under_way_count_for_the_quota, make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

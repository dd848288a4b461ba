// SPDX-License-Identifier: Apache-2.0
// When a file came, as far as the catalog knows.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "tests/unit/support/two-catalogs.h"

static int hidden_times; // so often a record is not there when it is opened

// The program's openat() is this one, not that of libc.
int openat(int folder, const char *name, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	int mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	if (hidden_times && strncmp(name, "00000000", 8) == 0 && !(flags & O_CREAT)) {
		hidden_times--;
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_openat, folder, name, flags, mode);
}

static int save_arrival(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	*(int64_t *)ctx = file->arrived;
	return 0;
}

// -1: it is not listed.
static int64_t arrival(void)
{
	struct err e = ERR_INIT;
	int64_t arrived = -1;
	two_ok(catalog_project_files(two_other, two_platform, "six", save_arrival, &arrived, &e), &e);
	return arrived;
}

static void assert_arrived_now(void)
{
	assert_in_range(arrival(), clock_wall_seconds() - 60, clock_wall_seconds() + 1);
}

static int save_newest(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	*(int64_t *)ctx = p->newest;
	return 0;
}

// When the newest file of the project came, as all changes tell it.
static int64_t newest(void)
{
	struct err e = ERR_INIT;
	int64_t found = -1, change = 0;
	two_ok(catalog_changes(two_other, 0, save_newest, &found, &change, &e), &e);
	return found;
}

static void set_scanned(void)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_platform_set_scanned(two_scan, two_platform, CATALOG_SCANNED, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

static void first_scan_tells_no_arrival(void **state UNUSED)
{
	two_put_new(two_scan, two_root, two_ones);
	assert_int_equal(arrival(), 0);
	set_scanned();
	assert_int_equal(arrival(), 0);
}

static void later_file_has_an_arrival(void **state UNUSED)
{
	set_scanned();
	two_put_new(two_scan, two_root, two_ones);
	assert_arrived_now();
}

static void other_bytes_arrive_anew(void **state UNUSED)
{
	two_put_new(two_scan, two_root, two_ones);
	set_scanned();
	two_put_new(two_scan, two_root, two_ones);
	assert_int_equal(arrival(), 0);
	two_put_new(two_scan, two_root, two_twos);
	assert_arrived_now();
}

static void restored_file_arrives_anew(void **state UNUSED)
{
	two_put_new(two_scan, two_root, two_ones);
	two_mark(two_scan, two_root, MARK_PRUNED, "old", 0);
	assert_int_equal(arrival(), -1);
	two_mark(two_scan, two_root, MARK_PRUNED, NULL, two_look_at_mark(two_root));
	assert_arrived_now();
}

static void put_with_time(int64_t mtime_ns)
{
	struct catalog_entry six = two_entry(two_root, two_ones);
	six.mtime_ns = mtime_ns;
	two_put(two_scan, &six);
}

// A project is as new as its newest file: by the time of arrival, else by the file's own time.
static void project_has_the_time_of_its_newest_file(void **state UNUSED)
{
	put_with_time(INT64_C(7000000000));
	assert_int_equal(newest(), 7);
	set_scanned();
	two_put_new(two_scan, two_root, two_twos);
	assert_in_range(newest(), clock_wall_seconds() - 60, clock_wall_seconds() + 1);
	two_mark(two_scan, two_root, MARK_PRUNED, "old", 0);
	assert_in_range(newest(), clock_wall_seconds() - 60, clock_wall_seconds() + 1);
}

static void project_is_not_newer_than_now(void **state UNUSED)
{
	put_with_time(INT64_C(4000000000000000000));
	assert_in_range(newest(), clock_wall_seconds() - 60, clock_wall_seconds() + 1);
}

static void project_is_newer_with_a_file_of_another_folder(void **state UNUSED)
{
	two_put_new(two_scan, two_root, two_ones);
	int64_t before = newest();
	set_scanned();
	two_mark(two_scan, two_root, MARK_PRUNED, "old", 0);
	two_put_new(two_scan, two_sub, two_twos); // another folder: it is listed now
	assert_true(newest() > before);
}

// A new catalog of the same state.
static int begin_anew(struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s-2", catalog_path(two_other));
	CLEANUP(mem_free) char *copy = xasprintf("cp -r '%s.arrivals' '%s.arrivals'", catalog_path(two_other), path);
	CLEANUP(mem_free) char *away = xasprintf("rm -r '%s'*", path);
	struct catalog *c = NULL;
	assert_int_equal(system(copy), 0);
	two_ok(catalog_open(path, &c, e), e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	int begun = catalog_begin(c, &t, e);
	catalog_rollback(&t);
	catalog_close(c);
	assert_int_equal(system(away), 0);
	return begun;
}

static void record_that_goes_while_it_is_listed_is_listed_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	set_scanned();
	two_put_new(two_scan, two_root, two_ones);
	hidden_times = 3;
	two_ok(begin_anew(&e), &e);
	assert_int_equal(hidden_times, 0);
	hidden_times = 1 << 20;
	assert_int_equal(begin_anew(&e), -1);
	hidden_times = 0;
	assert_int_equal(e.kind, ERR_IO);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(first_scan_tells_no_arrival),
		WITH_BOTH(later_file_has_an_arrival),
		WITH_BOTH(other_bytes_arrive_anew),
		WITH_BOTH(restored_file_arrives_anew),
		WITH_BOTH(project_has_the_time_of_its_newest_file),
		WITH_BOTH(project_is_not_newer_than_now),
		WITH_BOTH(project_is_newer_with_a_file_of_another_folder),
		WITH_BOTH(record_that_goes_while_it_is_listed_is_listed_again),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}

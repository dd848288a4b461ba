// SPDX-License-Identifier: Apache-2.0
// The processors of a made machine: this program has sched_getaffinity() and get_nprocs() of its own, and the files of
// cgroups are in a folder.
#include "lib/os/processors.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

enum { PROCESSORS = 8 };

static int online = PROCESSORS, failure;
static size_t allowed = PROCESSORS, needs = CPU_SETSIZE; // of the mask: its processors, and the room that it must have

int get_nprocs(void)
{
	return online;
}

int sched_getaffinity(pid_t pid UNUSED, size_t size, cpu_set_t *set)
{
	if (failure || size < CPU_ALLOC_SIZE(needs)) {
		errno = failure ? failure : EINVAL;
		return -1;
	}
	for (size_t i = 0; i < allowed; i++)
		CPU_SET_S(needs - 1 - i, size, set);
	return 0;
}

static char top[] = "/tmp/test-processors-XXXXXX";

// The text of a file below top; its folder is made.
static void put(const char *path, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *whole = xasprintf("%s%s", top, path);
	assert_int_equal(fs_make_parent(whole, &e), 0);
	FILE *f = fopen(whole, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int make_top(void **state UNUSED)
{
	online = PROCESSORS, failure = 0;
	allowed = PROCESSORS, needs = CPU_SETSIZE;
	memcpy(top + strlen(top) - 6, "XXXXXX", 6);
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state UNUSED)
{
	struct err e = ERR_INIT;
	return tree_remove(AT_FDCWD, top, &e);
}

static void expect(unsigned count, const char *why)
{
	struct processors found = processors_find(top);
	if (found.count != count || !strstr(found.why, why))
		fail_msg("%u, not %u: \"%s\", not \"%s\"", found.count, count, found.why, why);
}

static void test_no_cgroup(void **state UNUSED)
{
	expect(PROCESSORS, "one per processor");
	allowed = 3;
	expect(3, "its affinity allows 3 of 8 processors");
	failure = EPERM; // a filter of system calls
	expect(PROCESSORS, "one per processor");
	online = 0;
	expect(1, "one per processor");
}

// Exceeds LIMIT_PROCESSORS.
static void test_machine_of_many_processors(void **state UNUSED)
{
	needs = 4 * CPU_SETSIZE, online = allowed = 3000;
	expect(3000, "one per processor");
	allowed = 2;
	expect(2, "its affinity allows 2 of 3000 processors");
	needs = LIMIT_PROCESSORS;
	expect(2, "affinity");
	needs = 2 * (size_t)LIMIT_PROCESSORS;
	expect(3000, "one per processor");
}

#define V1 "4:cpu,cpuacct:/a/b\n3:memory:/m\n"
#define CPU "/sys/fs/cgroup/cpu"

static const struct {
	const char *groups;
	const char *file[10]; // path, text, path, text …
	unsigned count;
	const char *why;
} quota[] = {
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000 100000\n"}, 1, "/sys/fs/cgroup/a/cpu.max"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "max 100000\n"}, 8, "one per"},
	// A part of a processor is worth a thread.
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"}, 2, "a CPU quota of 1.5 ("},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1000 1000000\n"}, 1, "a CPU quota of 0.001"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "0 100000\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "700001 100000\n"}, 8, "one per"},
	// The smallest on the way up.
	{"0::/a/b/c\n", {"/sys/fs/cgroup/a/b/c/cpu.max", "500000 100000\n", "/sys/fs/cgroup/a/b/cpu.max",
		"max 100000\n", "/sys/fs/cgroup/a/cpu.max", "30000 10000\n"}, 3, "cgroup/a/cpu.max"},
	{"0::/a/b/c\n", {"/sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n",
		"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"}, 2, "a/b/c/cpu.max"},
	// That of another group is none.
	{"0::/a/b\n", {"/sys/fs/cgroup/a/c/cpu.max", "100000 100000\n"}, 8, "one per"},
	// A container: the mounted group is its own, whatever the path.
	{"0::/\n", {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}, 2, "cgroup/cpu.max"},
	{"0::/machine/x\n", {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}, 2, "cgroup/cpu.max"},
	{"0::/gone (deleted)\n", {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}, 2, "cgroup/cpu.max"},
	// Outside of the namespace: what is mounted is not above it.
	{"0::/../a\n", {"/sys/fs/cgroup/cpu.max", "200000 100000\n", "/sys/fs/a/cpu.max", "1 1\n"}, 8, "one"},
	// A name with the separator of the list.
	{"0::/a:b\n", {"/sys/fs/cgroup/a:b/cpu.max", "200000 100000"}, 2, "a:b/cpu.max"},
	// v1.
	{V1, {CPU "/a/b/cpu.cfs_quota_us", "100000\n", CPU "/a/b/cpu.cfs_period_us", "50000\n"}, 2, "cpu.cfs_quota_us"},
	{V1, {CPU "/a/b/cpu.cfs_quota_us", "-1\n", CPU "/a/b/cpu.cfs_period_us", "100000\n"}, 8, "one per"},
	{V1, {CPU "/a/b/cpu.cfs_quota_us", "-1\n", CPU "/a/b/cpu.cfs_period_us", "100000\n",
		CPU "/a/cpu.cfs_quota_us", "300000\n", CPU "/a/cpu.cfs_period_us", "100000\n"}, 3, "/cpu/a/cpu.cfs"},
	{V1, {CPU "/a/b/cpu.cfs_quota_us", "100000\n"}, 8, "one per"},
	{V1, {"/sys/fs/cgroup/memory/m/cpu.cfs_quota_us", "1\n",
		"/sys/fs/cgroup/memory/m/cpu.cfs_period_us", "1\n"}, 8, "one per"},
	{"5:cpuset:/a\n6:cpuacct:/a\n", {CPU "/a/cpu.cfs_quota_us", "1\n", CPU "/a/cpu.cfs_period_us", "1\n"}, 8, "one"},
	// v1 and v2: the controller is in one of them.
	{"4:cpu:/a\n0::/b\n", {CPU "/a/cpu.cfs_quota_us", "200000\n", CPU "/a/cpu.cfs_period_us", "100000\n"}, 2,
		"cpu/a/"},
	{"4:memory:/a\n0::/b\n", {"/sys/fs/cgroup/unified/b/cpu.max", "300000 100000\n"}, 3, "unified/b/"},
	// What has no meaning is no bound.
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", ""}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000 0\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000 -100000\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1e5 100000\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "100000 100000 7\n"}, 8, "one per"},
	// Numbers that do not fit.
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "99999999999999999999999 100000\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "18446744073709551615 1\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "4294967297 1\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1 99999999999999999999999\n"}, 8, "one per"},
	{"0::/a\n", {"/sys/fs/cgroup/a/cpu.max", "1 18446744073709551615\n"}, 1, "quota"},
	{"", {"/sys/fs/cgroup/cpu.max", "100000 100000\n"}, 8, "one per"},
	{"\n\nx\n0\n0:\n:\n\xff\n", {"/sys/fs/cgroup/cpu.max", "100000 100000\n"}, 8, "one per"},
};

static void test_quotas(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(quota); i++) {
		assert_int_equal(make_top(NULL), 0);
		put("/proc/self/cgroup", quota[i].groups);
		for (const char *const *file = quota[i].file; *file; file += 2)
			put(file[0], file[1]);
		print_message("%s", quota[i].groups);
		expect(quota[i].count, quota[i].why);
		allowed = 1;
		expect(1, "its affinity allows 1 of 8 processors");
		assert_int_equal(remove_top(NULL), 0);
	}
	assert_int_equal(make_top(NULL), 0);
}

// Exceeds LIMIT_CGROUPS.
static void test_long_list(void **state UNUSED)
{
	char list[LIMIT_CGROUPS + 8];
	memset(list, 'x', sizeof(list));
	memcpy(list, "0::/a\n", 6);
	put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	list[LIMIT_CGROUPS] = '\0';
	put("/proc/self/cgroup", list);
	expect(1, "cpu.max");
	list[LIMIT_CGROUPS] = 'x';
	list[LIMIT_CGROUPS + 1] = '\0';
	put("/proc/self/cgroup", list);
	expect(PROCESSORS, "one per");
}

// A path is cut where the reason has no more room.
static void test_long_path(void **state UNUSED)
{
	char part[200], groups[1024], file[1024];
	memset(part, 'x', sizeof(part) - 1);
	part[sizeof(part) - 1] = '\0';
	snprintf(groups, sizeof(groups), "0::/%s/%s\n", part, part);
	snprintf(file, sizeof(file), "/sys/fs/cgroup/%s/%s/cpu.max", part, part);
	put("/proc/self/cgroup", groups);
	put(file, "100000 100000\n");
	expect(1, "a CPU quota of 1 (");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_cgroup, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_machine_of_many_processors, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_quotas, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_long_list, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_long_path, make_top, remove_top),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

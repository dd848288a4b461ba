// SPDX-License-Identifier: Apache-2.0
// Where this process has a writable cgroup with the memory controller, test-run.c tests these functions for real. Here
// ordinary folders and files take the place of cgroups.
#include "builder/run/supervisor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[32];

static void put(const struct run_cgroup *g, const char *name, const char *text)
{
	char path[RUN_CGROUP_PATH + 32];
	snprintf(path, sizeof(path), "%s/%s", g->path, name);
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

static void drop(const struct run_cgroup *g, const char *name)
{
	char path[RUN_CGROUP_PATH + 32];
	snprintf(path, sizeof(path), "%s/%s", g->path, name);
	unlink(path);
}

static void test_what_the_kernel_counted(void **state UNUSED)
{
	struct run_cgroup g;
	assert_true(run_cgroup_make(&g, base, 7, 0));
	assert_false(run_cgroup_was_out_of_memory(&g));
	assert_int_equal(run_cgroup_peak(&g), 0);
	put(&g, "memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n");
	put(&g, "memory.peak", "5368709120\n");
	assert_false(run_cgroup_was_out_of_memory(&g));
	assert_int_equal(run_cgroup_peak(&g), 5368709120);
	put(&g, "memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n");
	assert_true(run_cgroup_was_out_of_memory(&g));
	drop(&g, "memory.events");
	drop(&g, "memory.peak");
	run_cgroup_remove(&g);
	assert_int_equal(access(g.path, F_OK), -1);
}

// A run whose limit cannot be set is refused: it would run without one.
static void test_a_limit_that_cannot_be_set(void **state UNUSED)
{
	struct run_cgroup g, same;
	assert_false(run_cgroup_make(&g, base, 8, 1 << 20));
	assert_string_equal(g.path, "");
	run_cgroup_name(&same, base, 8);
	assert_int_equal(access(same.path, F_OK), -1);
}

static void test_no_cgroup(void **state UNUSED)
{
	const struct run_cgroup none = {.path = ""};
	char long_base[2 * RUN_CGROUP_PATH];
	struct run_cgroup g;
	run_cgroup_kill(&none);
	run_cgroup_remove(&none);
	assert_false(run_cgroup_join(&none));
	assert_false(run_cgroup_was_out_of_memory(&none));
	assert_int_equal(run_cgroup_peak(&none), 0);
	memset(long_base, 'x', sizeof(long_base));
	long_base[sizeof(long_base) - 1] = '\0';
	assert_false(run_cgroup_make(&g, long_base, 9, 0));
	assert_string_equal(g.path, "");
}

static int make_base(void **state UNUSED)
{
	snprintf(base, sizeof(base), "/tmp/run-cgroup-XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state UNUSED)
{
	return rmdir(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_kernel_counted),
		cmocka_unit_test(test_a_limit_that_cannot_be_set),
		cmocka_unit_test(test_no_cgroup),
	};
	return cmocka_run_group_tests(tests, make_base, remove_base);
}

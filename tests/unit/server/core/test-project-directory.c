// SPDX-License-Identifier: Apache-2.0
#include "server/core/project-directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"

static void write_project(void *ctx, const struct project_entry *p)
{
	buf_puts(ctx, p->name);
	for (size_t i = 0; i < p->places; i++)
		buf_printf(ctx, " %d:%d@%d", (int)p->place[i].platform, (int)p->place[i].files,
			(int)p->place[i].newest);
	buf_puts(ctx, "\n");
}

static void assert_has(struct project_directory *d, const char *want)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	project_directory_each(d, write_project, &out);
	assert_string_equal(out.len ? out.data : "", want);
}

static void put(struct project_directory *d, const char *name, int64_t platform, uint64_t files, int64_t newest)
{
	project_directory_put(d, name, &(struct project_place){platform, newest, files});
}

static void test_projects_are_in_order(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = project_directory_new();
	assert_has(d, "");
	put(d, "six", 1, 2, 10);
	put(d, "attrs", 1, 1, 5);
	put(d, "six", 7, 1, 20);
	put(d, "six", 1, 0, 10);
	put(d, "numpy", 7, 3, 30);
	assert_has(d, "attrs 1:1@5\nnumpy 7:3@30\nsix 1:0@10 7:1@20\n");
}

static void test_gets_one(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = project_directory_new();
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 100);
	put(d, "six", 1, 2, 10);
	put(d, "attrs", 1, 1, 5);
	project_directory_get(d, "six", write_project, &out);
	project_directory_get(d, "si", write_project, &out);
	assert_string_equal(out.data, "six 1:2@10\n");
}

static void test_replaces_all(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = project_directory_new();
	CLEANUP(project_directory_cleanup) struct project_directory *fresh = project_directory_new();
	put(d, "old", 1, 1, 1);
	put(fresh, "new", 1, 1, 1);
	project_directory_replace(d, fresh);
	assert_has(d, "new 1:1@1\n");
	assert_has(fresh, "");
}

static void count(void *ctx, const struct project_entry *p UNUSED)
{
	++*(size_t *)ctx;
}

static void test_has_many(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = project_directory_new();
	size_t found = 0;
	for (int i = 0; i < 20000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%d", i * 7919 % 10000);
		for (int platform = 0; platform < 20; platform++)
			put(d, name, platform, 1, i);
	}
	project_directory_each(d, count, &found);
	assert_int_equal(found, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_projects_are_in_order),
		cmocka_unit_test(test_gets_one),
		cmocka_unit_test(test_replaces_all),
		cmocka_unit_test(test_has_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

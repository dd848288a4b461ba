// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/misplaced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"

static void note(void *ctx, int64_t platform, const char *folder, const char *filename, const char *project)
{
	buf_printf(ctx, "%d:%s/%s=%s;", (int)platform, folder, filename, project);
}

struct file {
	int64_t platform;
	const char *folder, *filename, *project;
};

enum { FILES = 4 };

static const struct {
	struct file file[FILES];
	const char *strays;
} table[] = {
	{{{1, "", "a", "six"}}, ""},
	{{{1, "six", "a", "six"}}, ""},
	{{{1, "numpy", "a", "six"}}, "1:numpy/a=six;"},
	{{{1, "s/six", "a", "six"}}, ""},
	{{{1, "n/numpy", "a", "six"}}, "1:n/numpy/a=six;"},
	// Names are normalised before they are compared.
	{{{1, "Zope_Interface", "a", "zope-interface"}}, ""},
	{{{1, "z/zope.interface", "a", "zope-interface"}}, ""},
	// Folders that belong to no project.
	{{{1, "n", "a", "six"}}, ""},
	{{{1, "old/numpy", "a", "six"}}, ""},
	{{{1, "n/numpy/1.0", "a", "six"}}, ""},
	{{{1, "lost+found", "a", "six"}}, ""},
	// A collection, and a folder that is not one.
	{{{1, "old", "a", "six"}, {1, "old", "b", "attrs"}}, ""},
	{{{1, "old", "a", "six"}, {1, "old", "b", "six"}}, "1:old/a=six;1:old/b=six;"},
	{{{1, "old", "a", "six"}, {1, "old", "b", "attrs"}, {1, "old", "c", "old"}}, "1:old/a=six;1:old/b=attrs;"},
	{{{1, "o/old", "a", "six"}, {1, "o/old", "b", "attrs"}}, "1:o/old/a=six;1:o/old/b=attrs;"},
	// A folder of the same name on another platform is another folder.
	{{{1, "six", "a", "attrs"}, {2, "six", "b", "numpy"}}, "1:six/a=attrs;2:six/b=numpy;"},
	{{{1, "old", "a", "six"}, {1, "old", "b", "attrs"}, {1, "new", "c", "six"}}, "1:new/c=six;"},
};

static void misplaced_files_are_found(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf strays;
		CLEANUP(misplaced_release) struct misplaced l;
		buf_init(&strays, 1000);
		misplaced_init(&l, note, &strays);
		for (const struct file *f = table[i].file; f < table[i].file + FILES && f->folder; f++)
			misplaced_add(&l, f->platform, f->folder, f->filename, f->project);
		misplaced_end(&l);
		assert_string_equal(strays.data, table[i].strays);
	}
}

static void unfinished_folder_is_released(void **state UNUSED)
{
	CLEANUP(misplaced_release) struct misplaced l;
	misplaced_init(&l, note, NULL);
	misplaced_add(&l, 1, "numpy", "a", "six");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misplaced_files_are_found),
		cmocka_unit_test(unfinished_folder_is_released),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

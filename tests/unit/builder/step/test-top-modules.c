// SPDX-License-Identifier: Apache-2.0
#include "builder/step/top-modules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/zipmake.h"

static void test_paths(void **state UNUSED)
{
	static const struct {
		const char *path, *module;
	} samples[] = {
		{"a.py", "a"},
		{"a/__init__.py", "a"},
		{"a/b.py", ""}, // perhaps a script in a folder of data
		{"a/b/__init__.py", "a.b"},
		{"a/b.cpython-311-x86_64-linux-gnu.so", "a.b"},
		{"a/__init__.cpython-311-x86_64-linux-gnu.so", "a"},
		{"a.cpython-313t-x86_64-linux-gnu.so", "a"},
		{"_a.abi3.so", "_a"},
		{"a.pypy311-pp73-x86_64-linux-gnu.so", "a"},
		{"a.so", "a"},
		{"liba.so", ""},
		{"a/b.so", ""},
		{"a.libs/libz-1234.so.1", ""},
		{"a.pth", ""},
		{"a-stubs/__init__.pyi", ""},
		{"a-1.0.dist-info/METADATA", ""},
		{"a-1.0.data/purelib/b.py", "b"},
		{"a-1.0.data/platlib/b/__init__.py", "b"},
		{"a-1.0.data/scripts/b.py", ""},
		{"a-1.0.data/data/b.py", ""},
		{"1a.py", ""},
		{"a b.py", ""},
		{"--help.py", ""},
		{"\xc3\xa4.py", "\xc3\xa4"},
		{"__init__.py", "__init__"},
		{".py", ""},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LIMIT_PATH);
		top_modules_of_path(str_from(samples[i].path), &out);
		if (strcmp(out.data, samples[i].module) != 0)
			fail_msg("%s: %s", samples[i].path, out.data);
	}
}

enum { FILES = 8 };

static void read_modules(const char *const *paths, size_t count, struct strset *out)
{
	struct err e = ERR_INIT;
	struct zipmake z;
	char path[] = "/tmp/wheelcache-modules-XXXXXX";
	int fd = mkstemp(path);
	zipmake_init(&z);
	for (size_t i = 0; i < count; i++)
		zipmake_add(&z, &(struct zipmake_member){.name = paths[i], .content = ""});
	zipmake_end(&z, "");
	assert_int_equal(write(fd, z.bytes.data, z.bytes.len), z.bytes.len);
	close(fd);
	int result = top_modules_read(path, out, &e);
	unlink(path);
	zipmake_release(&z);
	if (result < 0)
		fail_msg("%s", e.msg);
}

static void test_wheels(void **state UNUSED)
{
	static const struct {
		const char *path[FILES], *modules; // with blanks between
	} samples[] = {
		{{"b/__init__.py", "b/c/__init__.py", "a.py", "b/_d.abi3.so"}, "a b"},
		{{"_cffi_backend.cpython-311-x86_64-linux-gnu.so", "cffi/__init__.py"}, "cffi"},
		{{"_ruamel_yaml.cpython-311-x86_64-linux-gnu.so"}, "_ruamel_yaml"},
		{{"google/cloud/a/__init__.py", "google/cloud/a/b/__init__.py", "google/api/c.abi3.so"},
			"google.api.c google.cloud.a"},
		{{"tests/__init__.py", "setup.py", "x.py", "__main__.py"}, "x"},
		{{"tests/__init__.py"}, "tests"},
		{{"a-stubs/__init__.pyi", "a-1.0.dist-info/RECORD"}, ""},
		{{"a.pth"}, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		size_t count = 0;
		CLEANUP(buf_release) struct buf found;
		CLEANUP(strset_release) struct strset modules = {0};
		while (count < FILES && samples[i].path[count])
			count++;
		read_modules(samples[i].path, count, &modules);
		buf_init(&found, LIMIT_PATH);
		for (size_t j = 0; j < modules.count; j++)
			buf_printf(&found, "%s%s", j ? " " : "", modules.item[j]);
		assert_string_equal(found.data, samples[i].modules);
	}
}

// Exceeds LIMIT_TOP_MODULES.
static void test_number_is_limited(void **state UNUSED)
{
	enum { MANY = LIMIT_TOP_MODULES + 10 };
	char *paths[MANY];
	CLEANUP(strset_release) struct strset modules = {0};
	for (size_t i = 0; i < MANY; i++)
		paths[i] = xasprintf("m%zu.py", i);
	read_modules((const char *const *)paths, MANY, &modules);
	for (size_t i = 0; i < MANY; i++)
		free(paths[i]);
	assert_int_equal(modules.count, LIMIT_TOP_MODULES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_wheels),
		cmocka_unit_test(test_number_is_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

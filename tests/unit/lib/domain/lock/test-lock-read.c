// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/format/toml.h"

#define UV "version = 1\nrequires-python = '>=3.9'\n"
#define PYLOCK "lock-version = '1.0'\n"
#define POETRY_END "[metadata]\nlock-version = '2.1'\n"
#define PDM_END "[metadata]\nlock_version = '4.5.0'\n"
#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PIPFILE "{\"_meta\": {\"pipfile-spec\": 6},\n\"default\": {"

static int parse(const char *text, struct lock *out, struct err *e)
{
	CLEANUP(buf_release) struct buf b = buf_up_to(LIMIT_LOCK);
	buf_puts(&b, text);
	return lock_parse(&b, "f", out, e);
}

// Each package as "project==version", with what it is from, its marker, and its files as "name url hash size".
static void describe(const struct lock *l, struct buf *out)
{
	buf_puts(out, lock_kind_name[l->kind]);
	for (size_t i = 0; i < l->packages; i++) {
		const struct lock_package *p = &l->package[i];
		buf_printf(out, "|%u %s==%s", p->line, p->project, p->version ? p->version : "?");
		buf_printf(out, "%s%s%s%s", p->source ? " from " : "", p->source ? p->source : "",
			p->marker ? " ; " : "", p->marker ? p->marker : "");
		for (size_t k = p->file; k < p->file + p->files; k++)
			buf_printf(out, ", %s %s %d %d", l->file[k].filename ? l->file[k].filename : "?",
				l->file[k].url ? l->file[k].url : "-", l->file[k].has_sha256, (int)l->file[k].size);
	}
}

static void test_each_kind(void **state UNUSED)
{
	static const char *const table[][2] = {
		{UV "[[package]]\nname = 'A.b'\nversion = '1'\nsource = { registry = 'x' }\n"
		    "wheels = [{ url = 'https://h/a_b-1-py3-none-any.whl#x', hash = 'sha256:" SHA "', size = 7 }]\n"
		    "[[package]]\nname = 'd'\nsource = { virtual = '.' }\ndependencies = [{ name = 'a_b' }]\n",
			"uv.lock|3 a-b==1, a_b-1-py3-none-any.whl https://h/a_b-1-py3-none-any.whl#x 1 7|8 d==? from virtual"},
		{"\n# by hand\n" PYLOCK "[[packages]]\nname = 'a'\nversion = '1'\nmarker = \"os_name == 'nt'\"\n"
		 "sdist = { path = 'x/a-1.tar.gz', hashes = { md5 = 'x' } }\n[[packages]]\nname = 'b'\nvcs = {}\n",
			"pylock.toml|4 a==1 ; os_name == 'nt', a-1.tar.gz - 0 -1|9 b==? from vcs"},
		{"[[package]]\nname = 'a'\nversion = '1'\ngroups = ['main', 'dev']\n"
		 "files = [{ file = 'a-1.tar.gz', hash = 'sha256:" SHA "' }]\n"
		 "[package.markers]\ndev = \"os_name == 'nt'\"\n" POETRY_END,
			"poetry.lock|1 a==1 ; os_name == 'nt', a-1.tar.gz - 1 -1"},
		{"[[package]]\nname = 'a'\nversion = '1'\ncategory = 'dev'\n[metadata]\nlock-version = '1.1'\n"
		 "[metadata.files]\na = [{ file = 'a-1.tar.gz', hash = 'md5:00' }]\n",
			"poetry.lock|1 a==1, a-1.tar.gz - 0 -1"},
		{PDM_END "[[package]]\nname = 'a'\nversion = '1'\ngroups = ['default', 'cli']\n"
			 "files = [{ url = 'https://h/a-1.zip', hash = 'sha256:" SHA "' }]\n"
			 "[[package]]\nname = 'b'\nversion = '2'\ngit = 'x'\n",
			"pdm.lock|3 a==1, a-1.zip https://h/a-1.zip 1 -1|8 b==2 from git"},
		{PIPFILE
			"\n\"a\": {\"hashes\": [\"sha256:" SHA "\"], \"version\": \"==1.0\"},\n"
			"\"b\": {\"markers\": \"os_name == 'nt'\", \"version\": \"*\"}}, \"develop\": {\"c\": {\"git\": \"x\"}}}",
			"Pipfile.lock|3 a==1.0, ? - 1 -1|4 b==? ; os_name == 'nt'|4 c==? from git"},
		{"-i https://h/\n-e .\na==1 ; os_name == 'nt' --hash=sha256:" SHA
		 " \\\n  --hash=md5:00\nb @ https://h/b.whl\n",
			"requirements|3 a==1 ; os_name == 'nt', ? - 1 -1, ? - 0 -1|5 b==? from url"},
		{"a @ https://h/a.whl?x=1#egg=a&sha256=" SHA "\n", "requirements|1 a==? from url, ? - 1 -1"},
		{PYLOCK "[[packages]]\nname = 'a'\narchive = { url = 'https://h/main/', hashes = { sha256 = '" SHA "' } }\n",
			"pylock.toml|2 a==? from archive, ? - 1 -1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(lock_release) struct lock l = {0};
		CLEANUP(buf_release) struct buf seen = buf_up_to(4096);
		struct err e = ERR_INIT;
		if (parse(table[i][0], &l, &e) < 0)
			fail_msg("%s: %s", table[i][1], e.msg);
		describe(&l, &seen);
		assert_string_equal(seen.data, table[i][1]);
	}
}

static void test_a_broken_lock_is_an_error_with_its_line(void **state UNUSED)
{
	static const char *const table[][2] = {
		{"", "f:1: no lock: it names no project"},
		{"<html>", "f:1: the line does not begin with a project name"},
		{"a\n", "f:1: a has neither a version (==) nor a hash, so this is no lock"},
		{"a==1\n-r b.txt\n", "f:2: -r in a lock is not followed: name that file too"},
		{"a==1 --hash=sha256:00\n", "f:1: \"sha256:00\" is no SHA-256"},
		{"a==1; x\n", "f:1: the marker has \"x\" where a variable or a quoted text is expected"},
		{"[package]\nname = x\n", "f:2: \"x\" is no value"},
		{"x = 1\n", "f:1: not a lock file of uv, poetry or pdm, and no pylock.toml"},
		{"version = 4\n[[package]]\nname = 'a'\n",
			"f:1: not a lock file of uv, poetry or pdm, and no pylock.toml"},
		{"version = 2\nrequires-python = '>=3'\n", "f:1: version \"2\" of uv.lock is not known"},
		{"lock-version = '2.0'\n", "f:1: version \"2.0\" of pylock.toml is not known"},
		{"[metadata]\nlock-version = '3.0'\n", "f:2: version \"3.0\" of poetry.lock is not known"},
		{"[metadata]\nlock_version = '5'\n", "f:2: version \"5\" of pdm.lock is not known"},
		{UV "[[package]]\nname = 'a b'\n", "f:3: \"a b\" is no name of a project"},
		{UV "[[package]]\nname = 'a'\nversion = 'x'\n", "f:3: \"x\" is no version"},
		{UV "[[package]]\nname = 'a'\nversion = 1\n", "f:5: version is no text"},
		{UV "[[package]]\nname = \"a\\u0000\"\n", "f:4: name is no text"},
		{UV "package = [1]\n", "f:3: a package is no table"},
		{UV "[[package]]\nname = 'a'\nsource = { virtual = '.' }\ndependencies = [\n{ name = 'b' }]\n",
			"f:7: the lock has no b"},
		{UV "[[package]]\nname = 'a'\ndependencies = [\n{ name = 'a', marker = 'x' }]\n",
			"f:6: the marker has \"x\" where a variable or a quoted text is expected"},
		{UV "[[package]]\nname = 'a'\nwheels = [\n{ url = 'https://h/..%2fb' }]\n",
			"f:6: file name has byte 0x2f"},
		{UV "[[package]]\nname = 'a'\nwheels = [{ filename = '../a' }]\n", "f:5: file name has byte 0x2f"},
		{UV "[[package]]\nname = 'a'\nwheels = [{ size = 1 }]\n", "f:5: a file has no name"},
		{UV "[[package]]\nname = 'a'\nwheels = [{ filename = 'a', size = '1' }]\n", "f:5: size is no number"},
		{UV "[[package]]\nname = 'a'\nwheels = [{ filename = 'a', hash = 'sha256:x' }]\n",
			"f:5: \"sha256:x\" is no SHA-256"},
		{"{\"a\": 1}", "f:1: JSON, but no Pipfile.lock: it has no _meta"},
		{"{\"_meta\": {\"pipfile-spec\": 7}}", "f:1: the pipfile-spec of this Pipfile.lock is not known"},
		{PIPFILE "\n\"a\": {\"hashes\": [\"sha256:0\"]}}}", "f:3: \"sha256:0\" is no SHA-256"},
		{PIPFILE "\n\"a\": x", "f: not JSON: at byte 49, in line 3: a value is expected"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(lock_release) struct lock l = {0};
		struct err e = ERR_INIT;
		assert_int_equal(parse(table[i][0], &l, &e), -1);
		assert_string_equal(e.msg, table[i][1]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void add_times(struct buf *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_puts(b, text);
}

static void check_limit(const char *begin, const char *each, size_t times, const char *end, const char *why)
{
	CLEANUP(buf_release) struct buf b = buf_up_to(LIMIT_LOCK + 1);
	CLEANUP(lock_release) struct lock l = {0};
	struct err e = ERR_INIT;
	buf_puts(&b, begin);
	add_times(&b, each, times);
	buf_puts(&b, end);
	assert_false(b.failed);
	assert_int_equal(lock_parse(&b, "f", &l, &e), -1);
	assert_string_equal(e.msg, why);
	assert_int_equal(e.kind, ERR_LIMIT);
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(1 << 20);
	buf_puts(&line, "a==1");
	add_times(&line, " --hash=x:y", 1000);
	buf_puts(&line, "\n");
	// Exceeds LIMIT_LOCK_PACKAGES
	check_limit(UV, "[[package]]\nname = 'aaaaaaaaaaaaaaaaa'\n", LIMIT_LOCK_PACKAGES + 1, "",
		"f:200003: more than 100000 packages");
	// Exceeds LIMIT_LOCK_FILES
	check_limit("", line.data, 1001, "", "f:1001: more than 1000000 files");
}

static void test_groups_are_limited(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b = buf_up_to(1 << 20);
	CLEANUP(lock_release) struct lock l = {0};
	struct err e = ERR_INIT;
	buf_puts(&b, PDM_END "[[package]]\nname = 'a'\ngroups = [\n");
	// Exceeds LIMIT_LOCK_GROUPS
	for (int i = 0; i <= LIMIT_LOCK_GROUPS; i++)
		buf_printf(&b, "'group-%d',\n", i);
	buf_puts(&b, "]\n");
	assert_int_equal(lock_parse(&b, "f", &l, &e), -1);
	assert_string_equal(e.msg, "f:506: more than 500 groups and extras");
}

// A dependency without a version is on each version of the lock: that many are not made of a small file.
static void test_dependencies_are_not_multiplied(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b = buf_up_to(1 << 20);
	CLEANUP(lock_release) struct lock l = {0};
	struct err e = ERR_INIT;
	buf_puts(&b, UV);
	add_times(&b, "[[package]]\nname = 'a'\n", 1000);
	buf_puts(&b, "[[package]]\nname = 'b'\ndependencies = [\n");
	add_times(&b, "{ name = 'a' },\n", 1000);
	buf_puts(&b, "]\n");
	assert_int_equal(lock_parse(&b, "f", &l, &e), -1);
	assert_string_equal(e.msg, "f:1: more than 7352 dependencies");
}

static int read_toml(const char *begin, const char *each, size_t times, struct err *e)
{
	CLEANUP(buf_release) struct buf b = buf_up_to(LIMIT_TOML);
	CLEANUP(toml_release) struct toml t = {0};
	buf_puts(&b, begin);
	add_times(&b, each, times);
	return toml_read(b.data, b.len, &t, e);
}

static void test_limits_of_toml(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *large = xcalloc(LIMIT_TOML + 1, 1);
	CLEANUP(toml_release) struct toml t = {0};
	// Exceeds LIMIT_TOML
	assert_int_equal(toml_read(large, LIMIT_TOML + 1, &t, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	// Exceeds LIMIT_TOML_DEPTH
	assert_int_equal(read_toml("a = ", "[", LIMIT_TOML_DEPTH + 1, &e), -1);
	assert_string_equal(e.msg, "1: values are nested more than 64 deep");
	assert_int_equal(read_toml("a", ".a", LIMIT_TOML_DEPTH + 1, &e), -1);
	assert_string_equal(e.msg, "1: values are nested more than 64 deep");
	assert_int_equal(read_toml("[a", ".a", LIMIT_TOML_DEPTH + 1, &e), -1);
	assert_string_equal(e.msg, "1: values are nested more than 64 deep");
	// Exceeds LIMIT_TOML_VALUES, LIMIT_TOML_VALUE
	assert_int_equal(read_toml("a = [\n", "0,", 6000, &e), -1);
	assert_string_equal(e.msg, "2: more than 5096 values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind),
		cmocka_unit_test(test_a_broken_lock_is_an_error_with_its_line),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_groups_are_limited),
		cmocka_unit_test(test_dependencies_are_not_multiplied),
		cmocka_unit_test(test_limits_of_toml),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

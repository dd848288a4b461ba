// SPDX-License-Identifier: Apache-2.0
// Of a copy only the URLs of indexes and files differ.
#include "lib/domain/lock/lock-rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define UV "version = 1\nrequires-python = '>=3.9'\n"
#define PYLOCK "lock-version = '1.0'\n"
#define POETRY_END "[metadata]\nlock-version = '2.1'\n"
#define PDM_END "[metadata]\nlock_version = '4.5.0'\n"
#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// The new index has any file, but "gone"; of "odd" it has an odd URL.
static int new_url(void *ctx UNUSED, const char *project, const char *filename, const uint8_t *sha256, struct buf *url,
	struct err *e)
{
	if (strcmp(project, "gone") == 0)
		return err_set(e, ERR_NOT_FOUND, "no %s", filename);
	if (strcmp(project, "odd") == 0) {
		buf_puts(url, "https://n/\"");
		return 0;
	}
	buf_printf(url, "https://n/%s/%s%s", project, filename, sha256 ? "" : "?unhashed");
	return 0;
}

static int rewrite(const char *text, struct buf *out, struct err *e)
{
	struct lock_rewritten done;
	const struct lock_rewriting how = {"f", "https://new/simple/", new_url, NULL};
	return lock_rewrite(str_from(text), &how, out, &done, e);
}

static const char *const same_but_urls[][2] = {
	{UV "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"https://old/simple\" } # kept\n"
	    "sdist = { url = \"https://o/x/a-1.tar.gz\", hash = \"sha256:" SHA "\", size = 7 }\r\n"
	    "wheels = [\n  { url = 'https://o/a-1-py3-none-any.whl#frag', hash = 'sha256:" SHA "' },\n]\n"
	    "[[package]]\nname = 'g'\nversion = '1'\nsource = { git = 'https://git/g?rev=1' }\n"
	    "[package.metadata]\nrequires-dist = [{ name = 'a', index = \"https://old/simple\" }]\n"
	    "[[package]]\nname = 'd'\nsource = { url = 'https://o/d-1.zip' }\n",
		UV "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { registry = \"https://new/simple/\" } # kept\n"
		   "sdist = { url = \"https://n/a/a-1.tar.gz\", hash = \"sha256:" SHA "\", size = 7 }\r\n"
		   "wheels = [\n  { url = 'https://n/a/a-1-py3-none-any.whl#frag', hash = 'sha256:" SHA "' },\n]\n"
		   "[[package]]\nname = 'g'\nversion = '1'\nsource = { git = 'https://git/g?rev=1' }\n"
		   "[package.metadata]\nrequires-dist = [{ name = 'a', index = \"https://new/simple/\" }]\n"
		   "[[package]]\nname = 'd'\nsource = { url = 'https://n/d/d-1.zip?unhashed' }\n"},
	{PYLOCK "[[packages]]\nname = 'a'\nversion = '1'\nindex = \"https://old/\"\n"
		"wheels = [{ url = 'https://o/a-1-py3-none-any.whl', hashes = { sha256 = '" SHA "' } }]\n"
		"[[packages]]\nname = 'b'\nvcs = { type = 'git', url = 'https://git/b' }\n"
		"[[packages]]\nname = 'c'\n[packages.archive]\nurl = 'https://o/c-1.tar.gz'\nhashes = { sha256 = '" SHA "' }\n",
		PYLOCK "[[packages]]\nname = 'a'\nversion = '1'\nindex = \"https://new/simple/\"\n"
		       "wheels = [{ url = 'https://n/a/a-1-py3-none-any.whl', hashes = { sha256 = '" SHA "' } }]\n"
		       "[[packages]]\nname = 'b'\nvcs = { type = 'git', url = 'https://git/b' }\n"
		       "[[packages]]\nname = 'c'\n[packages.archive]\nurl = 'https://n/c/c-1.tar.gz'\nhashes = { sha256 = '" SHA
		       "' }\n"},
	{"[[package]]\nname = 'a'\nversion = '1'\nfiles = [{ file = 'a-1.tar.gz', hash = 'sha256:" SHA "' }]\n"
	 "[package.source]\ntype = 'legacy'\nurl = 'https://old/simple'\nreference = 'ours'\n"
	 "[[package]]\nname = 'b'\nversion = '1'\n[package.source]\ntype = 'git'\nurl = 'https://git/b'\n"
	 "[[package]]\nname = 'c'\nversion = '1'\n[package.source]\ntype = 'url'\nurl = 'https://o/c-1.tar.gz'\n" POETRY_END,
		"[[package]]\nname = 'a'\nversion = '1'\nfiles = [{ file = 'a-1.tar.gz', hash = 'sha256:" SHA "' }]\n"
		"[package.source]\ntype = 'legacy'\nurl = 'https://new/simple/'\nreference = 'ours'\n"
		"[[package]]\nname = 'b'\nversion = '1'\n[package.source]\ntype = 'git'\nurl = 'https://git/b'\n"
		"[[package]]\nname = 'c'\nversion = '1'\n[package.source]\ntype = 'url'\nurl = "
		"'https://n/c/c-1.tar.gz?unhashed'\n" POETRY_END},
	{PDM_END "[[package]]\nname = 'a'\nversion = '1'\n"
		 "files = [{ url = \"https://o/a-1-py3-none-any.whl\", hash = \"sha256:" SHA "\" }]\n",
		PDM_END "[[package]]\nname = 'a'\nversion = '1'\n"
			"files = [{ url = \"https://n/a/a-1-py3-none-any.whl\", hash = \"sha256:" SHA "\" }]\n"},
	{"# --index-url https://comment/\n--index-url https://old/simple  # end\n-i https://old/two\n"
	 "--extra-index-url=\"https://old/three/\"\n--trusted-host old\n"
	 "a==1 \\\n    --hash=sha256:" SHA "\nb @ https://o/b-1-py3-none-any.whl#sha256=" SHA " ; python_version > '3'\n"
	 "c @ \\\n  https://o/c-1.tar.gz\n",
		"# --index-url https://comment/\n--index-url https://new/simple/  # end\n-i https://new/simple/\n"
		"--extra-index-url=\"https://new/simple/\"\n--trusted-host old\n"
		"a==1 \\\n    --hash=sha256:" SHA "\nb @ https://n/b/b-1-py3-none-any.whl#sha256=" SHA
		" ; python_version > '3'\nc @ \\\n  https://n/c/c-1.tar.gz?unhashed\n"},
	{"{\"_meta\": {\"pipfile-spec\": 6, \"sources\": [{\"name\": \"p\", \"url\": \"https://old/simple\"}]},\n"
	 "\"default\": {\"a\": {\"version\": \"==1\", \"index\": \"p\"}, \"b\": {\"file\": \"https://o/b-1.tar.gz\"}}}\n",
		"{\"_meta\": {\"pipfile-spec\": 6, \"sources\": [{\"name\": \"p\", \"url\": \"https://new/simple/\"}]},\n"
		"\"default\": {\"a\": {\"version\": \"==1\", \"index\": \"p\"}, \"b\": {\"file\": "
		"\"https://n/b/b-1.tar.gz?unhashed\"}}}\n"},
	{PDM_END "[[package]]\nname = 'a'\nversion = '1'\nfiles = [{ file = 'a-1.tar.gz', hash = 'sha256:" SHA "' }]\n",
		PDM_END "[[package]]\nname = 'a'\nversion = '1'\nfiles = [{ file = 'a-1.tar.gz', hash = 'sha256:" SHA "' }]\n"},
};

static void test_only_urls_differ(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(same_but_urls); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf out = buf_up_to(LIMIT_LOCK);
		if (rewrite(same_but_urls[i][0], &out, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
		assert_string_equal(out.data, same_but_urls[i][1]);
	}
}

static void test_refused(void **state UNUSED)
{
	static const char *const table[][2] = {
		{UV "[[package]]\nname = 'gone'\nversion = '1'\nwheels = [{ url = 'https://o/gone-1-py3-none-any.whl' }]\n",
			"f:6: no gone-1-py3-none-any.whl"},
		{UV "[[package]]\nname = 'a'\nversion = '1'\nwheels = [{ url = \"https://o/\\u0061-1.zip\" }]\n",
			"f:6: the URL is written with escapes"},
		{UV "[[package]]\nname = 'odd'\nversion = '1'\nsdist = { url = 'https://o/odd-1.zip' }\n",
			"f:6: the new index has a URL for it that no lock can have"},
		{UV "[[package]]\nname = 'd'\nsource = { url = 'https://o/archive/main' }\n",
			"f:5: the URL names no wheel and no source archive"},
		{"a==1\n--find-links https://o/links\n", "f:2: --find-links is a page of links"},
		{"a==1\ngone @ https://o/gone-1.zip\n", "f:2: no gone-1.zip"},
		{"{\"_meta\": {\"pipfile-spec\": 6},\n\"default\": {\"gone\": {\"file\":\n \"https://o/gone-1.zip\"}}}",
			"f:3: no gone-1.zip"},
		{"{\"_meta\": {\"pipfile-spec\": 6, \"sources\": [{\"url\": \"https:\\/\\/old\"}]},\n\"default\": {}}",
			"the URL is written with escapes"},
		{"no lock at all", "f:1: "},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf out = buf_up_to(LIMIT_LOCK);
		assert_int_equal(rewrite(table[i][0], &out, &e), -1);
		if (!strstr(e.msg, table[i][1]))
			fail_msg("%zu: %s", i, e.msg);
		assert_int_equal(out.len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_urls_differ),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "builder/step/build-facts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define ITEM(name, version)                                                                                            \
	"{\"metadata\": {\"name\": \"" name "\", \"version\": \"" version "\"}, \"download_info\": "                   \
	"{\"archive_info\": {\"hashes\": {\"sha256\": \"ab12\"}}}}"
#define REPORT(items) "{\"version\": \"1\", \"install\": [" items "]}"

static void test_reports(void **state UNUSED)
{
	static const struct {
		const char *reports, *requirements;
	} samples[] = {
		{"", "[]"},
		{"no JSON", "[]"},
		{"[1, 2]", "[]"},
		{"{\"install\": 1}", "[]"},
		{"{\"install\": [1, null, {}, {\"metadata\": 1}, {\"metadata\": {\"name\": \"a\"}}]}", "[]"},
		{REPORT(ITEM("A.b", "1")), "[{\"name\": \"A.b\", \"version\": \"1\", \"sha256\": \"ab12\"}]"},
		// Several, as pip indents them, of which the last is cut.
		{"{\n \"install\": []\n}" REPORT(ITEM("a", "1")) "\n" REPORT(ITEM("b", "2")) "{\"install\": [{",
			"[{\"name\": \"a\", \"version\": \"1\", \"sha256\": \"ab12\"}, "
			"{\"name\": \"b\", \"version\": \"2\", \"sha256\": \"ab12\"}]"},
		{REPORT("{\"metadata\": {\"name\": \"a\", \"version\": \"1\"}}"),
			"[{\"name\": \"a\", \"version\": \"1\", \"sha256\": null}]"},
		{REPORT(ITEM("a b", "1")), "[]"},
		{REPORT(ITEM("-x", "1")), "[]"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(strset_release) struct strset names = {0};
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		CLEANUP(buf_release) struct buf text;
		CLEANUP(mem_free) char *wanted = xasprintf("{\"requirements\": %s}\n", samples[i].requirements);
		buf_init(&text, 1 << 20);
		build_facts_requirements(str_from(samples[i].reports), doc, &names);
		jsondoc_write(doc, 0, &text);
		assert_string_equal(text.data, wanted);
	}
}

// Exceeds LIMIT_BUILD_REQUIREMENTS.
static void test_names_are_normal_and_bounded(void **state UNUSED)
{
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf reports;
	buf_init(&reports, 1 << 20);
	buf_puts(&reports, REPORT(ITEM("Foo.Bar", "1")));
	for (int i = 0; i < LIMIT_BUILD_REQUIREMENTS + 9; i++)
		buf_puts(&reports, REPORT(ITEM("other", "1")));
	build_facts_requirements(buf_view(&reports), doc, &names);
	assert_int_equal(jsondoc_count(jsondoc_get(doc, "requirements")), LIMIT_BUILD_REQUIREMENTS);
	assert_true(strset_has(&names, "foo-bar"));
	assert_int_equal(names.count, 2);
}

// What a foreign program puts in place of an answer: too much, a link, a pipe that nothing writes to.
// Exceeds LIMIT_BUILD_ANSWER.
static void test_answers_are_bounded(void **state UNUSED)
{
	char folder[] = "/tmp/wheelcache-facts-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct err e = ERR_INIT;
	const struct sandbox room = {.folder = folder};
	CLEANUP(mem_free) char *big = xasprintf("%s/big", folder);
	CLEANUP(mem_free) char *link = xasprintf("%s/link", folder);
	CLEANUP(mem_free) char *pipe = xasprintf("%s/pipe", folder);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_BUILD_ANSWER);
	int fd = open(big, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, LIMIT_BUILD_ANSWER + 1), 0);
	close(fd);
	assert_int_equal(symlink("/etc/passwd", link) | mkfifo(pipe, 0600), 0);
	assert_int_equal(sandbox_read(&room, "big", &out, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(sandbox_read(&room, "link", &out, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(sandbox_read(&room, "pipe", &out, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(sandbox_write(&room, "link", "ours", &e), 0); // replaced, not followed
	buf_clear(&out);
	assert_int_equal(sandbox_read(&room, "link", &out, &e), 0);
	assert_string_equal(out.data, "ours");
	assert_int_equal(unlink(big) | unlink(link) | unlink(pipe) | rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_names_are_normal_and_bounded),
		cmocka_unit_test(test_answers_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/sidecar.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/place/place-posix.h"

static char path[] = "test-sidecar.XXXXXX";
static int dir;
static struct place *place;
static struct place_folder *folder;
static const char six[] = "six-1.0-py3-none-any.whl";

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static int make_folder(void **state UNUSED)
{
	struct err e = ERR_INIT;
	dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	place = place_posix_new(path, path, PLACE_POSIX_INSIDE);
	folder = place_open_folder(place, "", &e);
	return folder ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	close(dir);
	place_folder_close(&folder);
	place_free(place);
	return rmdir(path);
}

static void names(void **state UNUSED)
{
	static const struct {
		const char *name, *filename;
		enum mark mark;
	} table[] = {
		{"six-1.0-py3-none-any.whl.yanked", "six-1.0-py3-none-any.whl", MARK_YANKED},
		{"six-1.0.tar.gz.pruned", "six-1.0.tar.gz", MARK_PRUNED},
		{"six-1.0-py3-none-any.whl", NULL, 0},
		{"six-1.0-py3-none-any.whl.YANKED", NULL, 0},
		{"README.yanked", NULL, 0},
		{".yanked", NULL, 0},
		{".status", "", MARK_STATUS},
		{"six-1.0-py3-none-any.whl.status", NULL, 0},
		{"six-1.0-py3-none-any.whl.yanked.pruned", NULL, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct str filename;
		enum mark mark;
		bool is = sidecar_is(str_from(table[i].name), &filename, &mark);
		assert_int_equal(is, table[i].filename != NULL);
		if (!is)
			continue;
		assert_true(str_eq(filename, str_from(table[i].filename)));
		assert_int_equal(mark, table[i].mark);
	}
}

static void status_stands_under_its_folder(void **state UNUSED)
{
	static const struct {
		const char *folder, *subject;
	} table[] = {{"s/six", "six"}, {"Foo_Bar", "foo-bar"}, {"a/b/Zope.Interface", "zope-interface"}, {"", NULL},
		{"s/-six", NULL}, {"s/six wheels", NULL}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(mem_free) char *subject = sidecar_subject(STR(""), MARK_STATUS, table[i].folder);
		assert_int_equal(subject == NULL, table[i].subject == NULL);
		if (subject)
			assert_string_equal(subject, table[i].subject);
	}
	CLEANUP(mem_free) char *filename = sidecar_subject(str_from(six), MARK_YANKED, "s/six");
	assert_string_equal(filename, six);
}

static void status_is_beside_all_files(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	ok(sidecar_write(folder, "six", MARK_STATUS, STR("{}"), &e), &e);
	assert_int_equal(faccessat(dir, ".status", F_OK, 0), 0);
	assert_int_equal(sidecar_read(folder, "six", MARK_STATUS, &text, &e), 1);
	assert_string_equal(text.data, "{}");
	ok(sidecar_remove(folder, "six", MARK_STATUS, &e), &e);
	assert_int_equal(sidecar_read(folder, "six", MARK_STATUS, &text, &e), 0);
}

static void reasons(void **state UNUSED)
{
	static const struct {
		enum mark mark;
		const char *text, *reason;
	} table[] = {
		{MARK_YANKED, "", ""},
		{MARK_YANKED, "broken\n", "broken"},
		{MARK_YANKED, " a\n\tb \x01 c\r\n", "a b c"},
		{MARK_YANKED, "{\"reason\":\"no JSON here\"}", "{\"reason\":\"no JSON here\"}"},
		{MARK_YANKED, "broken\n" MARK_FROM_UPSTREAM "https://here/simple/\n", "broken"}, // upstream's
		{MARK_YANKED, "\n" MARK_FROM_UPSTREAM "https://here/simple/\n", ""},
		{MARK_YANKED, MARK_FROM_UPSTREAM "it\nbroken", MARK_FROM_UPSTREAM "it broken"}, // not the last line
		{MARK_PRUNED, "{\"reason\": \"upstream\\nhas it\", \"by\": \"root\"}", "upstream has it"},
		{MARK_PRUNED, "{\"by\": \"root\"}", ""},
		{MARK_PRUNED, "{\"reason\": 7}", ""},
		{MARK_PRUNED, "[1]", ""},
		{MARK_PRUNED, "{\"reason\": \"cut", "{\"reason\": \"cut"},
		{MARK_PRUNED, "by hand\n", "by hand"},
		{MARK_PRUNED, "", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LIMIT_SIDECAR);
		mark_reason(table[i].mark, str_from(table[i].text), &out);
		assert_string_equal(out.data, table[i].reason);
	}
}

// Cut between two characters, of 3 bytes each.
// Exceeds LIMIT_REASON.
static void long_reasons_are_cut(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, LIMIT_SIDECAR);
	buf_init(&out, LIMIT_SIDECAR);
	while (text.len < 2 * LIMIT_REASON)
		buf_puts(&text, "\xe2\x82\xac");
	mark_reason(MARK_YANKED, buf_view(&text), &out);
	assert_int_equal(out.len, LIMIT_REASON / 3 * 3);
	assert_true(str_is_utf8(buf_view(&out)));
	buf_clear(&text);
	buf_clear(&out);
	while (text.len < 2 * LIMIT_REASON)
		buf_puts(&text, "a ");
	mark_reason(MARK_YANKED, buf_view(&text), &out);
	assert_int_equal(out.len, LIMIT_REASON - 1); // a blank ends no reason
}

static int read_mark(enum mark mark, struct buf *out, struct err *e)
{
	buf_init(out, 2 * LIMIT_SIDECAR);
	return sidecar_read(folder, six, mark, out, e);
}

static void assert_text(enum mark mark, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	assert_int_equal(read_mark(mark, &out, &e), text ? 1 : 0);
	assert_string_equal(out.data, text ? text : "");
}

static void marks_come_and_go(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_text(MARK_YANKED, NULL);
	ok(sidecar_write(folder, six, MARK_YANKED, STR("broken"), &e), &e);
	assert_text(MARK_YANKED, "broken");
	assert_text(MARK_PRUNED, NULL);
	ok(sidecar_write(folder, six, MARK_YANKED, STR(""), &e), &e);
	assert_text(MARK_YANKED, "");
	ok(sidecar_remove(folder, six, MARK_YANKED, &e), &e);
	ok(sidecar_remove(folder, six, MARK_YANKED, &e), &e);
	assert_text(MARK_YANKED, NULL);
}

// Exceeds LIMIT_SIDECAR.
static void of_a_long_text_the_beginning_counts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *text = xmalloc(4 * LIMIT_SIDECAR);
	memset(text, 'x', 4 * LIMIT_SIDECAR);
	ok(sidecar_write(folder, six, MARK_YANKED, (struct str){text, 4 * LIMIT_SIDECAR}, &e), &e);
	CLEANUP(buf_release) struct buf out;
	assert_int_equal(read_mark(MARK_YANKED, &out, &e), 1);
	assert_in_range(out.len, LIMIT_SIDECAR, 2 * LIMIT_SIDECAR - 1);
	ok(sidecar_remove(folder, six, MARK_YANKED, &e), &e);
}

// Neither is waited for, nor followed out of the folder.
static void strange_things_are_no_marks(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const char *name = "six-1.0-py3-none-any.whl.pruned";
	assert_int_equal(mkfifoat(dir, name, 0600), 0);
	assert_text(MARK_PRUNED, NULL);
	unlinkat(dir, name, 0);
	assert_int_equal(mkdirat(dir, name, 0700), 0);
	assert_text(MARK_PRUNED, NULL);
	unlinkat(dir, name, AT_REMOVEDIR);
	assert_int_equal(symlinkat("/etc/passwd", dir, name), 0);
	CLEANUP(buf_release) struct buf out;
	assert_int_equal(read_mark(MARK_PRUNED, &out, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	unlinkat(dir, name, 0);
}

static void name_that_is_too_long_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char name[LIMIT_FILE_NAME + 1];
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_SIDECAR);
	memset(name, 'a', LIMIT_FILE_NAME);
	memcpy(name + LIMIT_FILE_NAME - 4, ".whl", 5);
	assert_int_equal(sidecar_write(folder, name, MARK_YANKED, STR(""), &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(sidecar_read(folder, name, MARK_YANKED, &out, &e), 0);
	ok(sidecar_remove(folder, name, MARK_YANKED, &e), &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(status_stands_under_its_folder),
		cmocka_unit_test(status_is_beside_all_files),
		cmocka_unit_test(reasons),
		cmocka_unit_test(long_reasons_are_cut),
		cmocka_unit_test(marks_come_and_go),
		cmocka_unit_test(of_a_long_text_the_beginning_counts),
		cmocka_unit_test(strange_things_are_no_marks),
		cmocka_unit_test(name_that_is_too_long_is_refused),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/os/fs.h"
#include "lib/os/thread-pool.h"

static char folder[] = "test-audit.XXXXXX";
static char path[64];

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/new/audit.log", folder);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static void write_entry(const struct audit_entry *entry)
{
	struct err e = ERR_INIT;
	CLEANUP(audit_cleanup) struct audit *a = NULL;
	if (audit_open(path, &a, &e) < 0 || audit_write(a, entry, &e) < 0)
		fail_msg("%s", e.msg);
}

static void read_log(struct buf *text)
{
	struct err e = ERR_INIT;
	buf_init(text, 1 << 24);
	assert_int_equal(fs_read_file(path, text, &e), 0);
}

static const struct audit_entry plain = {.who = "builder",
	.peer = "::1",
	.action = "upload",
	.platform = "p",
	.project = "foo",
	.file = "foo-1.whl",
	.sha256 = "ab",
	.result = "done",
	.reason = "why"};

static void a_line_has_all_fields(void **state UNUSED)
{
	struct stat st;
	CLEANUP(buf_release) struct buf text;
	write_entry(&plain);
	read_log(&text);
	assert_int_equal(strlen(text.data), text.len);
	assert_memory_equal(text.data, "{\"time\":\"20", 11);
	assert_string_equal(text.data + strlen("{\"time\":\"2026-11-21T17:00:00.123456Z\""),
		",\"who\":\"builder\",\"peer\":\"::1\",\"action\":\"upload\",\"platform\":\"p\",\"project\":\"foo\","
		"\"file\":\"foo-1.whl\",\"sha256\":\"ab\",\"result\":\"done\",\"reason\":\"why\"}\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07137, 0);
}

// What a client sent cannot make a second line, and no line is without an end.
static void hostile_text_stays_in_its_line(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *huge = xmalloc(1 << 20);
	memset(huge, '\x01', (1 << 20) - 1);
	huge[(1 << 20) - 1] = '\0';
	write_entry(&(struct audit_entry){.who = "a\"\n{}\xff", .reason = huge});
	read_log(&text);
	assert_non_null(strstr(text.data, "\"who\":\"a\\\"\\u000a{}"));
	assert_ptr_equal(strchr(text.data, '\n'), text.data + text.len - 1);
	assert_true(text.len < 8 * LIMIT_WORDS);
	assert_true(str_is_utf8(buf_view(&text)));
}

static void a_torn_line_is_ended(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	write_entry(&plain);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 5), 0);
	write_entry(&plain);
	write_entry(&plain);
	read_log(&text);
	struct str rest = buf_view(&text), torn = str_cut(&rest, '\n');
	assert_int_equal(torn.len, st.st_size - 5);
	assert_int_equal(str_cut(&rest, '\n').len, st.st_size - 1);
	assert_int_equal(str_cut(&rest, '\n').len, st.st_size - 1);
	assert_int_equal(rest.len, 0);
}

static void a_log_that_cannot_be_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct audit *a = NULL;
	assert_int_equal(audit_open(folder, &a, &e), -1); // a folder
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, "audit log test-audit."));
	CLEANUP(audit_cleanup) struct audit *full = NULL;
	if (audit_open("/dev/full", &full, &e) == 0)
		assert_int_equal(audit_write(full, &plain, &e), -1);
}

enum { WRITERS = 4, LINES = 200 };

static void write_many(void *job UNUSED)
{
	for (int i = 0; i < LINES; i++)
		write_entry(&plain);
}

static void many_write_whole_lines(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	struct thread_pool *pool = thread_pool_new(WRITERS, THREAD_POOL_FIRST_IN_FIRST_OUT, "test");
	for (int i = 0; i < WRITERS; i++)
		thread_pool_submit(pool, write_many, NULL);
	thread_pool_free(pool);
	read_log(&text);
	struct str rest = buf_view(&text);
	size_t lines = 0, len = str_slice(rest, 0, (size_t)str_find(rest, '\n')).len;
	for (; rest.len; lines++)
		assert_int_equal(str_cut(&rest, '\n').len, len);
	assert_int_equal(lines, WRITERS * LINES);
}

static void an_account_has_a_name(void **state UNUSED)
{
	CLEANUP(mem_free) char *who = audit_account();
	assert_memory_equal(who, "user ", 5);
	assert_true(strlen(who) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_line_has_all_fields, remove_file),
		cmocka_unit_test_teardown(hostile_text_stays_in_its_line, remove_file),
		cmocka_unit_test_teardown(a_torn_line_is_ended, remove_file),
		cmocka_unit_test(a_log_that_cannot_be_is_an_error),
		cmocka_unit_test_teardown(many_write_whole_lines, remove_file),
		cmocka_unit_test(an_account_has_a_name),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
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

static struct audit_place place = {.path = path, .max_size = 1 << 30};

static void write_entry(const struct audit_entry *entry)
{
	struct err e = ERR_INIT;
	CLEANUP(audit_cleanup) struct audit *a = NULL;
	if (audit_open(&place, &a, &e) < 0 || audit_write(a, entry, &e) < 0)
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
	assert_int_equal(audit_open(&(struct audit_place){.path = folder}, &a, &e), -1); // a folder
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, "audit log test-audit."));
	CLEANUP(audit_cleanup) struct audit *full = NULL;
	char device[] = "/dev/full";
	if (audit_open(&(struct audit_place){.path = device, .max_size = 1}, &full, &e) == 0)
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

// --- moved files ---

// The text of the log's file with this number; empty: there is none.
static void read_moved(unsigned number, struct buf *text)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *moved = number ? xasprintf("%s.%u", path, number) : xstrdup(path);
	buf_init(text, 1 << 24);
	if (fs_read_file(moved, text, &e) < 0)
		assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static size_t count_lines(unsigned number)
{
	CLEANUP(buf_release) struct buf text;
	size_t lines = 0;
	read_moved(number, &text);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	return lines;
}

static int remove_moved(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -f '%s' '%s'.*", path, path);
	place = (struct audit_place){.path = path, .max_size = 1 << 30};
	return system(command);
}

// A process that holds the log open while another moves it writes into the new one.
static void a_full_log_is_moved(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(audit_cleanup) struct audit *slow = NULL;
	assert_int_equal(audit_open(&place, &slow, &e), 0);
	write_entry(&plain);
	assert_int_equal(stat(path, &st), 0);
	place.max_size = 2 * (uint64_t)st.st_size;
	for (int i = 0; i < 4; i++)
		write_entry(&plain);
	assert_int_equal(count_lines(0), 1);
	assert_int_equal(count_lines(1), 2);
	assert_int_equal(count_lines(2), 2);
	assert_int_equal(audit_write(slow, &plain, &e), 0);
	assert_int_equal(count_lines(0), 2);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07137, 0);
}

static void set_age(unsigned number, int64_t seconds)
{
	CLEANUP(mem_free) char *moved = xasprintf("%s.%u", path, number);
	const struct timespec times[] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
	assert_int_equal(utimensat(AT_FDCWD, moved, times, 0), 0);
}

static void a_moved_log_ends_when_it_is_too_old(void **state UNUSED)
{
	static const int64_t day = 86400;
	place.max_size = 1;
	place.keep = 10 * (uint64_t)day;
	for (int i = 0; i < 4; i++)
		write_entry(&plain);
	set_age(3, 11 * day);
	set_age(2, 9 * day);
	write_entry(&plain);
	assert_int_equal(count_lines(3), 1); // that of 9 days
	assert_int_equal(count_lines(4), 0);
	place.keep = 0;
	set_age(3, 1000 * day);
	write_entry(&plain);
	assert_int_equal(count_lines(4), 1);
}

// A log that is never full is moved in time for its first line.
static void an_old_log_is_moved(void **state UNUSED)
{
	static const char line[] = "{\"time\":\"%s.000000Z\",\"action\":\"upload\"}\n";
	static const struct {
		int64_t age, keep;
		bool is_moved;
	} cases[] = {{37, 365, true}, {36, 365, false}, {400, 0, false}, {2, 3, true}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char when[CLOCK_TEXT];
		clock_write(clock_wall_seconds() - cases[i].age * 86400, when);
		when[CLOCK_TEXT - 2] = '\0';
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fprintf(f, line, when);
		assert_int_equal(fclose(f), 0);
		place.keep = (uint64_t)cases[i].keep * 86400;
		write_entry(&plain);
		assert_int_equal(count_lines(1), cases[i].is_moved);
		remove_moved(NULL);
	}
}

static void what_a_link_leads_to_is_moved(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *target = xasprintf("%s.target", path);
	write_entry(&plain);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink("audit.log.target", path), 0);
	place.max_size = 1;
	write_entry(&plain);
	assert_int_equal(count_lines(0), 1);
	CLEANUP(mem_close) int fd = audit_open_moved(path, 1, &e);
	assert_true(fd >= 0);
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void many_move_and_lose_nothing(void **state UNUSED)
{
	place.max_size = 4096;
	struct thread_pool *pool = thread_pool_new(WRITERS, THREAD_POOL_FIRST_IN_FIRST_OUT, "test");
	for (int i = 0; i < WRITERS; i++)
		thread_pool_submit(pool, write_many, NULL);
	thread_pool_free(pool);
	size_t lines = 0, files = 0;
	for (size_t one; (one = count_lines((unsigned)files)) > 0; files++)
		lines += one;
	assert_int_equal(lines, WRITERS * LINES);
	assert_true(files > 20);
}

// --- lines of clients that are refused ---

static void add_unwritten(void *ctx, const struct audit_unwritten *what)
{
	buf_printf(ctx, "%s %s %s %d;", what->who ? what->who : "-", what->peer ? what->peer : "-", what->action,
		(int)what->lines);
}

static void refuse_times(int times, const char *who, const char *peer, const char *result)
{
	for (int i = 0; i < times; i++)
		write_entry(&(struct audit_entry){.who = who, .peer = peer, .action = "upload", .result = result});
}

// Exceeds LIMIT_AUDIT_REFUSED.
static void a_client_has_few_lines_about_nothing(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1 << 16);
	place.refusals = audit_refusals_new(60000, add_unwritten, &text);
	refuse_times(LIMIT_AUDIT_REFUSED, "t", "a", "refused");
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSED);
	refuse_times(5, "t", "b", "failed"); // the same token elsewhere
	refuse_times(1, "t", "b", "same");
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSED);
	refuse_times(3, "t", "a", "done"); // what changed is always written
	refuse_times(1, "u", "a", "refused");
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSED + 4);
	refuse_times(LIMIT_AUDIT_REFUSED, NULL, "2001:db8::1", "refused"); // one /64
	refuse_times(2, NULL, "2001:db8::2:1", "refused");
	refuse_times(1, NULL, "2001:db8:0:1::1", "refused");
	assert_int_equal(count_lines(0), 2 * LIMIT_AUDIT_REFUSED + 5);
	audit_refusals_free(place.refusals);
	assert_string_equal(text.data, "t b upload 6;- 2001:db8::2:1 upload 2;");
}

// Those that are too many for the table have lines together, and do not displace others.
// Exceeds LIMIT_AUDIT_REFUSERS.
static void more_clients_share_their_lines(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	char peer[32];
	buf_init(&text, 1 << 16);
	place.refusals = audit_refusals_new(60000, add_unwritten, &text);
	for (int i = 0; i < LIMIT_AUDIT_REFUSERS + 50; i++) {
		snprintf(peer, sizeof(peer), "10.0.%d.%d", i / 250, i % 250);
		refuse_times(1, NULL, peer, "refused");
	}
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSERS + LIMIT_AUDIT_REFUSED);
	refuse_times(1, NULL, "10.0.0.0", "refused");
	refuse_times(1, "token", "10.0.0.9", "refused");
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSERS + LIMIT_AUDIT_REFUSED + 2);
	audit_refusals_free(place.refusals);
	assert_string_equal(text.data, "- - upload 40;");
}

static void count_reports(void *ctx, const struct audit_unwritten *what UNUSED)
{
	atomic_fetch_add((atomic_int *)ctx, 1);
}

static void a_count_is_written_when_the_window_ends(void **state UNUSED)
{
	atomic_int reports = 0;
	place.refusals = audit_refusals_new(200, count_reports, &reports);
	refuse_times(LIMIT_AUDIT_REFUSED + 1, "t", "a", "refused");
	for (int i = 0; i < 1000 && !atomic_load(&reports); i++)
		usleep(10000);
	assert_int_equal(atomic_load(&reports), 1);
	refuse_times(1, "t", "a", "refused");
	assert_int_equal(count_lines(0), LIMIT_AUDIT_REFUSED + 1);
	audit_refusals_free(place.refusals);
	assert_int_equal(atomic_load(&reports), 1);
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
		cmocka_unit_test_teardown(a_full_log_is_moved, remove_moved),
		cmocka_unit_test_teardown(a_moved_log_ends_when_it_is_too_old, remove_moved),
		cmocka_unit_test_teardown(an_old_log_is_moved, remove_moved),
		cmocka_unit_test_teardown(what_a_link_leads_to_is_moved, remove_moved),
		cmocka_unit_test_teardown(many_move_and_lose_nothing, remove_moved),
		cmocka_unit_test_teardown(a_client_has_few_lines_about_nothing, remove_moved),
		cmocka_unit_test_teardown(more_clients_share_their_lines, remove_moved),
		cmocka_unit_test_teardown(a_count_is_written_when_the_window_ends, remove_moved),
		cmocka_unit_test(an_account_has_a_name),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/downloads.h"

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
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"
#include "server/message/download-counter.h"

enum { DAY = 86400 };

static char *catalog, *path; // in a new folder for each test

static int64_t at(const char *text)
{
	int64_t seconds;
	assert_true(clock_read(text, &seconds));
	return seconds;
}

static int make_folder(void **state UNUSED)
{
	char name[] = "test-downloads.XXXXXX";
	if (!mkdtemp(name))
		return -1;
	catalog = xasprintf("%s/catalog.db", name);
	path = state_file(NULL, catalog, STATE_FILE_DOWNLOADS);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r \"$(dirname '%s')\"", catalog);
	int code = system(command);
	free(catalog);
	free(path);
	return code;
}

static struct downloads_place counts(void)
{
	return (struct downloads_place){.path = path, .kept = (int64_t)DOWNLOADS_DAYS * DAY, .most = LIMIT_DOWNLOADS};
}

static struct download_counter *start_counter(unsigned period_ms)
{
	const struct downloads_place place = counts();
	return download_counter_start(&place, period_ms);
}

static void add(const char *when, struct downloads_news *news, size_t count)
{
	struct err e = ERR_INIT;
	const struct downloads_place place = counts();
	if (downloads_add(&place, news, count, at(when), &e) < 0)
		fail_msg("%s", e.msg);
}

static void add_one(const char *when, const char *key, uint64_t count)
{
	add(when, &(struct downloads_news){key, count}, 1);
}

static void expect_text(const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_DOWNLOADS);
	assert_int_equal(fs_read_file(path, &text, &e), 0);
	assert_string_equal(text.data, expected);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static struct downloads *open_it(void)
{
	struct err e = ERR_INIT;
	struct downloads *d = NULL;
	if (downloads_open(path, &d, &e) < 0)
		fail_msg("%s", e.msg);
	return d;
}

static void test_counts_add_up(void **state UNUSED)
{
	struct downloads_news first[] = {{"p/c-1.whl", 1}, {"p/a-1.whl", 2}, {"p/none.whl", 0}};
	add("2026-01-01T00:00:00Z", NULL, 0);
	expect_text("wheelcache-downloads 2 2026-01-01\nend 0\n");
	add("2026-01-02T23:59:59Z", first, 3);
	struct downloads_news second[] = {{"q/a-1.whl", 1}, {"p/a-1.whl", 5}, {"p/b-1.whl", 3}};
	add("2026-01-03T00:00:00Z", second, 3);
	add("2026-01-04T00:00:00Z", NULL, 0);
	expect_text("wheelcache-downloads 2 2026-01-01\n"
		    "p/a-1.whl 7 2026-01-02 2026-01-03\np/b-1.whl 3 2026-01-03 2026-01-03\n"
		    "p/c-1.whl 1 2026-01-02 2026-01-02\nq/a-1.whl 1 2026-01-03 2026-01-03\n"
		    "end 4\n");
}

static void test_a_clock_set_back_loses_no_day(void **state UNUSED)
{
	add_one("2026-01-05T00:00:00Z", "p/a", 1);
	add_one("2026-01-03T00:00:00Z", "p/a", 1);
	expect_text("wheelcache-downloads 2 2026-01-05\np/a 2 2026-01-03 2026-01-05\nend 1\n");
}

static void test_what_nobody_wants_is_forgotten(void **state UNUSED)
{
	add_one("2026-01-05T00:00:00Z", "p/a", 1);
	add_one("2028-01-05T00:00:00Z", "p/b", 1);
	expect_text("wheelcache-downloads 2 2026-01-05\np/a 1 2026-01-05 2026-01-05\np/b 1 2028-01-05 2028-01-05\nend 2\n");
	add_one("2028-01-06T00:00:00Z", "p/b", 1);
	expect_text("wheelcache-downloads 2 2026-01-05\np/b 2 2028-01-05 2028-01-06\nend 1\n");
}

static void test_finds_each_of_many(void **state UNUSED)
{
	enum { MANY = 300 };
	char key[MANY][32];
	struct downloads_news news[MANY];
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(key[i], sizeof(key[i]), "p/%.*s-%u", (int)(i % 9), "aaaaaaaaa", i * 2);
		news[i] = (struct downloads_news){key[i], i + 1};
	}
	add("2026-01-02T00:00:00Z", news, MANY);
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	for (unsigned i = 0; i < 2 * MANY; i++) {
		char name[32];
		struct download found;
		snprintf(name, sizeof(name), "%.*s-%u", (int)(i / 2 % 9), "aaaaaaaaa", i);
		assert_int_equal(downloads_find(d, "p", name, &found), i % 2 == 0);
		if (i % 2 == 0)
			assert_int_equal(found.count, i / 2 + 1);
	}
}

static void test_who_was_not_downloaded(void **state UNUSED)
{
	const int64_t now = at("2026-02-01T12:00:00Z");
	add_one("2026-01-01T08:00:00Z", "p/old", 1);
	add_one("2026-01-29T08:00:00Z", "p/new", 1);
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	static const struct {
		const char *name;
		int days;
		enum downloaded expected;
	} row[] = {
		{"new", 3, DOWNLOADED_YES}, // the whole day counts
		{"new", 2, DOWNLOADED_NO},
		{"old", 3, DOWNLOADED_NO},
		{"old", 31, DOWNLOADED_YES},
		{"never", 31, DOWNLOADED_NO},
		{"never", 32, DOWNLOADED_UNKNOWN}, // before counting began
		{"old", DOWNLOADS_DAYS + 1, DOWNLOADED_YES},
		{"never", DOWNLOADS_DAYS + 1, DOWNLOADED_UNKNOWN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (downloads_within(d, "p", row[i].name, now, (int64_t)row[i].days * DAY) != row[i].expected)
			fail_msg("%s within %d days", row[i].name, row[i].days);
	assert_int_equal(downloads_within(NULL, "p", "new", now, DAY), DOWNLOADED_UNKNOWN);
	// Even after years of counting, older downloads are dropped.
	assert_int_equal(downloads_within(d, "p", "never", now + 4000L * DAY, (DOWNLOADS_DAYS + 1L) * DAY),
		DOWNLOADED_UNKNOWN);
}

static void test_what_is_torn_begins_anew(void **state UNUSED)
{
	static const char *const torn[] = {
		"",
		"\n",
		"wheelcache-downloads 3 2026-01-01\nend 0\n",
		"wheelcache-downloads 2 2026-13-01\nend 0\n",
		"wheelcache-downloads 2 2026-01-01\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 - 2026-01-01\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 - 2026-01-01\nend 2\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 - 2026-01-01\nend 1",
		"wheelcache-downloads 2 2026-01-01\np/b 1 - 2026-01-01\np/a 1 - 2026-01-01\nend 2\n",
		"wheelcache-downloads 2 2026-01-01\np/a x - 2026-01-01\nend 1\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 2026-01-01\nend 1\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 2026-01 2026-01-01\nend 1\n",
		"wheelcache-downloads 2 2026-01-01\np/a 1 2026-01-01 -\nend 1\n",
		"wheelcache-downloads 2 2026-01-01\n 1 - 2026-01-01\nend 1\n",
		"wheelcache-downloads 2 2026-01-01\nend x\n",
		"wheelcache-downloads 1 2026-01-01\np/a 1 2026-01\nend 1\n",
		"wheelcache-downloads 1 2026-01-01\np/a x 2026-01-01\nend 1\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(torn); i++) {
		struct err e = ERR_INIT;
		struct downloads *d = NULL;
		write_text(torn[i]);
		if (downloads_open(path, &d, &e) == 0)
			fail_msg("taken: %s", torn[i]);
		assert_int_equal(e.kind, ERR_INVALID);
		add_one("2026-03-01T00:00:00Z", "p/new", 1);
		expect_text("wheelcache-downloads 2 2026-03-01\np/new 1 2026-03-01 2026-03-01\nend 1\n");
	}
}

// Of an earlier release: its counts and days stay, and the first day is not known.
static void test_form_1_goes_on(void **state UNUSED)
{
	struct download found;
	write_text("wheelcache-downloads 1 2025-12-01\np/a 3 2025-12-24\np/b 1 2025-12-25\nend 2\n");
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	assert_int_equal(downloads_since(d), at("2025-12-01T00:00:00Z"));
	assert_true(downloads_find(d, "p", "a", &found));
	assert_int_equal(found.count, 3);
	assert_int_equal(found.first, 0);
	assert_int_equal(found.last, at("2025-12-24T00:00:00Z"));
	add_one("2026-01-05T00:00:00Z", "p/a", 1);
	expect_text("wheelcache-downloads 2 2025-12-01\np/a 4 - 2026-01-05\np/b 1 - 2025-12-25\nend 2\n");
}

static int note_file(void *ctx, const struct downloaded_file *f, const struct download *download, struct err *e)
{
	struct buf *out = ctx;
	if (download->count == 9)
		return err_set(e, ERR_INVALID, "enough");
	buf_printf(out, STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT "|" STR_FMT " %d %d\n", STR_ARG(f->platform),
		STR_ARG(f->upstream), STR_ARG(f->project), STR_ARG(f->filename), STR_ARG(f->who), (int)download->count,
		(int)((download->last - download->first) / DAY));
	return 0;
}

static void test_each_file_with_its_place(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(1000);
	struct downloads_news first[] = {{"upstream/a-1.whl", 2}, {"upstream/pypi/six/six 1.zip\ttoken a/b", 1}, {"p/a-1.whl", 1}};
	struct downloads_news second = {"p/a-1.whl", 2};
	add("2026-01-02T00:00:00Z", first, 3);
	add("2026-01-05T00:00:00Z", &second, 1);
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	assert_int_equal(downloads_each(d, note_file, &text, &e), 0);
	assert_string_equal(text.data, "p|||a-1.whl| 3 3\nupstream|||a-1.whl| 2 0\n|pypi|six|six 1.zip|token a/b 1 0\n");
	add_one("2026-01-05T00:00:00Z", "q/a", 9);
	CLEANUP(downloads_cleanup) struct downloads *more = open_it();
	assert_int_equal(downloads_each(more, note_file, &text, &e), -1);
	assert_string_equal(e.msg, "enough");
}

// Exceeds LIMIT_DOWNLOADERS_EACH, with a lower one: of the clients of a file those that came last have lines, and all
// others share one, as do those of another file.
static void test_those_who_came_last_are_named(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct downloads_place who = {.path = path, .kept = 90 * DAY, .each = 2, .most = LIMIT_DOWNLOADERS};
	struct downloads_news first[] = {{"p/a\taddress 1", 1}, {"p/a\taddress 2", 5}, {"p/a\taddress 3", 7}, {"p/b\ttoken t", 1}};
	struct downloads_news second[] = {{"p/a\ttoken t", 1}, {"p/a\taddress 2", 1}};
	assert_int_equal(downloads_add(&who, first, 4, at("2026-01-02T00:00:00Z"), &e), 0);
	expect_text("wheelcache-downloads 2 2026-01-02\np/a\taddress 2 5 2026-01-02 2026-01-02\n"
		    "p/a\taddress 3 7 2026-01-02 2026-01-02\np/a\tothers 1 2026-01-02 2026-01-02\n"
		    "p/b\ttoken t 1 2026-01-02 2026-01-02\nend 4\n");
	assert_int_equal(downloads_add(&who, second, 2, at("2026-01-05T00:00:00Z"), &e), 0);
	expect_text("wheelcache-downloads 2 2026-01-02\np/a\taddress 2 6 2026-01-02 2026-01-05\n"
		    "p/a\tothers 8 2026-01-02 2026-01-02\np/a\ttoken t 1 2026-01-05 2026-01-05\n"
		    "p/b\ttoken t 1 2026-01-02 2026-01-02\nend 4\n");
	assert_int_equal(downloads_add(&who, NULL, 0, at("2026-04-03T00:00:00Z"), &e), 0); // nobody came since
	expect_text("wheelcache-downloads 2 2026-01-02\np/a\taddress 2 6 2026-01-02 2026-01-05\n"
		    "p/a\ttoken t 1 2026-01-05 2026-01-05\nend 2\n");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0077, 0);
}

// Exceeds LIMIT_DOWNLOADERS, with a lower one: no file loses all of its lines to another.
static void test_many_clients_leave_room_for_others(void **state UNUSED)
{
	enum { CLIENTS = 600 };
	struct err e = ERR_INIT;
	struct stat st;
	char key[CLIENTS][32];
	struct downloads_news news[CLIENTS];
	const struct downloads_place who = {.path = path, .kept = 90 * DAY, .each = 512, .most = 16 << 10};
	struct downloads_news one = {"p/b\taddress ::1", 1};
	for (int round = 0; round < 4; round++) {
		for (unsigned i = 0; i < CLIENTS; i++) {
			snprintf(key[i], sizeof(key[i]), "p/a\taddress %d.%u", round, i);
			news[i] = (struct downloads_news){key[i], 1};
		}
		assert_int_equal(downloads_add(&who, &one, 1, at("2026-01-02T00:00:00Z"), &e), 0);
		if (downloads_add(&who, news, CLIENTS, at("2026-01-02T00:00:00Z"), &e) < 0)
			fail_msg("%s", e.msg);
	}
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1000, who.most);
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	struct download found;
	assert_true(downloads_find(d, "p", "a\tothers", &found));
	assert_in_range(found.count, 2400 - 512, 2400 - 1);
	assert_true(downloads_find(d, "p", "b\taddress ::1", &found));
	assert_int_equal(found.count, 4);
}

static void test_who_is_counted(void **state UNUSED)
{
	struct download found;
	struct download_counter *counter = start_counter(3600 * 1000);
	struct download_count *file = download_counter_of(counter, "p", STR("a"));
	CLEANUP(mem_free) char *other = xasprintf("%s.who", path);
	const struct downloads_place place = {.path = other, .kept = 90 * DAY, .each = 9, .most = LIMIT_DOWNLOADERS};
	struct download_counter *who = download_counter_start(&place, 3600 * 1000);
	download_counter_note(who, file, "token builder of jammy");
	download_counter_note(who, file, "token builder of jammy");
	download_counter_note(who, file, "address ::1");
	download_counter_note(who, file, "token \n");
	download_counter_note(NULL, file, "address ::1");
	download_counter_unref(file);
	download_counter_stop(who);
	download_counter_stop(counter);
	free(path);
	path = STEAL_PTR(other);
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	assert_true(downloads_find(d, "p", "a\ttoken builder of jammy", &found) && found.count == 2);
	assert_true(downloads_find(d, "p", "a\taddress ::1", &found) && found.count == 1);
}

static void test_nobody_has_counted(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct downloads *d = NULL;
	assert_int_equal(downloads_open(path, &d, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static uint64_t count_of(const char *filename)
{
	struct download found = {0};
	CLEANUP(downloads_cleanup) struct downloads *d = open_it();
	return downloads_find(d, "p", filename, &found) ? found.count : 0;
}

static void raise_by(struct download_counter *t, const char *filename, unsigned times)
{
	struct download_count *count = download_counter_of(t, "p", str_from(filename));
	for (unsigned i = 0; i < times; i++)
		download_counter_raise(count);
	download_counter_unref(count);
}

// Two servers on one catalog.
static void test_counts_end_up_in_the_file(void **state UNUSED)
{
	struct download_counter *one = start_counter(3600 * 1000),
				*other = start_counter(3600 * 1000);
	assert_int_equal(count_of("a"), 0); // it is there from the beginning
	raise_by(one, "a", 3);
	raise_by(one, "a", 4);
	raise_by(other, "a", 5);
	raise_by(other, "b", 1);
	raise_by(other, "never sent", 0);
	raise_by(other, "odd\nname", 1);
	struct download_count *held = download_counter_of(one, "p", STR("a")); // of a reply that outlives the meter
	download_counter_stop(one);
	assert_int_equal(count_of("a"), 7);
	download_counter_stop(other);
	assert_int_equal(count_of("a"), 12);
	assert_int_equal(count_of("b"), 1);
	download_counter_raise(held);
	download_counter_unref(held);
	download_counter_unref(download_counter_of(NULL, "p", STR("a")));
}

// Without an end: as long as a busy machine takes.
static void wait_for(uint64_t count, const char *filename)
{
	while (count_of(filename) != count)
		usleep(1000);
}

static void test_counts_are_written_now_and_then(void **state UNUSED)
{
	struct download_counter *t = start_counter(1);
	struct download_count *held = download_counter_of(t, "p", STR("held"));
	raise_by(t, "a", 1);
	download_counter_raise(held);
	wait_for(1, "a");
	wait_for(1, "held");
	raise_by(t, "a", 2); // its count was let go of meanwhile, or not
	download_counter_raise(held);
	wait_for(3, "a");
	wait_for(2, "held");
	download_counter_unref(held);
	download_counter_stop(t);
}

static void test_what_cannot_be_written_is_kept(void **state UNUSED)
{
	CLEANUP(mem_free) char *in_the_way = xasprintf("mv '%s' '%s.aside' && mkdir '%s'", path, path, path);
	CLEANUP(mem_free) char *away = xasprintf("rmdir '%s' && mv '%s.aside' '%s'", path, path, path);
	struct download_counter *t = start_counter(3600 * 1000);
	raise_by(t, "a", 1);
	assert_int_equal(system(in_the_way), 0);
	download_counter_write(t);
	raise_by(t, "a", 1);
	assert_int_equal(system(away), 0);
	assert_int_equal(count_of("a"), 0);
	download_counter_stop(t);
	assert_int_equal(count_of("a"), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

// Exceeds LIMIT_DOWNLOADS. Most of the file is a hole.
static void a_file_that_is_too_large_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct downloads *d = NULL;
	write_text("x");
	assert_int_equal(truncate(path, LIMIT_DOWNLOADS + (off_t)1), 0);
	assert_int_equal(downloads_open(path, &d, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_counts_add_up),
		TEST(test_a_clock_set_back_loses_no_day),
		TEST(test_what_nobody_wants_is_forgotten),
		TEST(test_finds_each_of_many),
		TEST(test_who_was_not_downloaded),
		TEST(test_what_is_torn_begins_anew),
		TEST(test_form_1_goes_on),
		TEST(test_each_file_with_its_place),
		TEST(test_those_who_came_last_are_named),
		TEST(test_many_clients_leave_room_for_others),
		TEST(test_who_is_counted),
		TEST(test_nobody_has_counted),
		TEST(test_counts_end_up_in_the_file),
		TEST(test_counts_are_written_now_and_then),
		TEST(test_what_cannot_be_written_is_kept),
		cmocka_unit_test_setup_teardown(a_file_that_is_too_large_is_refused, make_folder, remove_folder),
	};
	return cmocka_run_group_tests_name("downloads", tests, NULL, NULL);
}

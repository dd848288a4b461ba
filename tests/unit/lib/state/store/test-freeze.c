// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/freeze.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/place/place-posix.h"

static char *folder;
static struct platform platform;

static int make_folder(void **state UNUSED)
{
	static char name[] = "test-freeze.XXXXXX";
	struct err e = ERR_INIT;
	folder = mkdtemp(name) ? fs_real_path(name, &e) : NULL;
	static char p[] = "p";
	struct place *place = folder ? place_posix_new(folder, folder, PLACE_POSIX_INSIDE) : NULL;
	platform = (struct platform){.name = p, .place = place, .written = place};
	return folder ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	int code = system(command);
	free(folder);
	place_free(platform.place);
	return code;
}

static char *mark_path(void)
{
	return xasprintf("%s/%s", folder, FREEZE_MARK);
}

static void write_mark(const char *bytes, size_t len)
{
	CLEANUP(mem_free) char *path = mark_path();
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void expect_frozen(const char *begins)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, 2 * LIMIT_WORDS);
	assert_int_equal(freeze_is(&platform, &why, &e), 1);
	if (strncmp(why.data, begins, strlen(begins)) != 0)
		fail_msg("%s", why.data);
	assert_null(strchr(why.data, '\n'));
	assert_true(str_is_utf8(buf_view(&why)));
	assert_int_equal(freeze_check(&platform, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, begins));
}

static void expect_thawed(void)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_WORDS);
	assert_int_equal(freeze_is(&platform, &why, &e), 0);
	assert_int_equal(why.len, 0);
	assert_int_equal(freeze_check(&platform, &e), 0);
}

static void it_freezes_and_thaws(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool was_frozen = true;
	expect_thawed();
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
	assert_false(was_frozen);
	assert_int_equal(freeze_set(&platform, "user a", "the volume\nmoves", 1000, &e), 0);
	expect_frozen("the volume moves (by user a at 20");
	assert_int_equal(freeze_set(&platform, "user b", "", 1000, &e), 0);
	expect_frozen("no reason was given (by user b at 20");
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
	assert_true(was_frozen);
	expect_thawed();
}

// Created by hand, by mistake, or by another program.
static void whatever_is_there_counts(void **state UNUSED)
{
	bool was_frozen;
	struct err e = ERR_INIT;
	char long_text[3 * LIMIT_WORDS];
	memset(long_text, 'x', sizeof(long_text));
	write_mark("", 0);
	expect_frozen("no reason was given");
	write_mark("upgrade", 7);
	expect_frozen("upgrade");
	write_mark("\xff\xfe", 2);
	expect_frozen("no reason was given");
	write_mark(long_text, sizeof(long_text));
	expect_frozen("xxx");
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
	CLEANUP(mem_free) char *path = mark_path();
	assert_int_equal(symlink("/nonexistent", path), 0);
	expect_frozen("no reason was given");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); // reading it must not block
	expect_frozen("no reason was given");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_frozen("no reason was given");
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), -1);
	assert_int_equal(rmdir(path), 0);
	expect_thawed();
}

static void a_platform_that_is_away_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool was_frozen;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_WORDS);
	char p[] = "p";
	struct place *away = place_posix_new("/nonexistent", "/nonexistent", PLACE_POSIX_INSIDE);
	struct platform gone = {.name = p, .place = away, .written = away};
	assert_int_equal(freeze_is(&gone, &why, &e), -1);
	assert_memory_equal(e.msg, "platform p: /nonexistent", 24);
	assert_int_equal(freeze_set(&gone, "a", "b", 1000, &e), -1);
	assert_int_equal(freeze_clear(&gone, &was_frozen, &e), -1);
	place_free(away);
}

// Exceeds LIMIT_WORDS.
static void a_reason_has_an_end(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char text[LIMIT_WORDS + 1];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(freeze_set(&platform, "a", text, 1000, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	expect_thawed();
}

// Any account that may read the folder may do that: it holds one step up, and not each.
static void a_stranger_with_the_lock_holds_nobody_up(void **state UNUSED)
{
	enum { STEPS = 20 };
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int stranger = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(stranger, LOCK_EX), 0);
	int64_t begun = clock_ms(), first = 0;
	for (int i = 0; i <= STEPS; i++) {
		struct freeze_hold hold;
		assert_int_equal(freeze_enter(&platform, false, &hold, &e), 0);
		freeze_leave(&hold);
		first = i ? first : clock_ms() - begun;
	}
	assert_in_range(clock_ms() - begun, 0, first * STEPS / 2);
	assert_int_equal(freeze_set(&platform, "a", "", 0, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	struct freeze_hold hold;
	assert_int_equal(freeze_enter(&platform, false, &hold, &e), -1);
	assert_non_null(strstr(e.msg, "is frozen: no reason"));
	freeze_leave(&hold);
	bool was_frozen;
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
}

// A retirement marks the files itself; nobody else writes meanwhile.
static void only_a_retirement_enters_a_retired_platform(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct freeze_hold hold;
	bool was_frozen;
	assert_int_equal(freeze_set(&platform, "a", FREEZE_RETIRED ": the release ended", 1000, &e), 0);
	assert_int_equal(freeze_check(&platform, &e), -1);
	assert_int_equal(freeze_enter(&platform, false, &hold, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	freeze_leave(&hold);
	assert_int_equal(freeze_enter(&platform, true, &hold, &e), 0);
	freeze_leave(&hold);
	assert_int_equal(freeze_set(&platform, "a", FREEZE_RETIRED "ments are another word", 1000, &e), 0);
	assert_int_equal(freeze_enter(&platform, true, &hold, &e), -1);
	freeze_leave(&hold);
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
}

// A freeze as it goes on in another process: the lock, then the mark, then the end of the lock.
static void *freeze_meanwhile(void *ctx)
{
	const int *lock = ctx;
	usleep(200000);
	write_mark("the volume moves", 16);
	flock(*lock, LOCK_UN);
	return NULL;
}

// No step that waited for the lock goes on when the mark has come meanwhile.
static void a_step_that_waited_looks_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct freeze_hold hold;
	pthread_t other;
	bool was_frozen;
	CLEANUP(mem_close) int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(pthread_create(&other, NULL, freeze_meanwhile, &lock), 0);
	int entered = freeze_enter(&platform, false, &hold, &e);
	pthread_join(other, NULL);
	freeze_leave(&hold);
	assert_int_equal(entered, -1);
	assert_non_null(strstr(e.msg, "is frozen: the volume moves"));
	assert_int_equal(freeze_clear(&platform, &was_frozen, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_freezes_and_thaws),
		cmocka_unit_test(only_a_retirement_enters_a_retired_platform),
		cmocka_unit_test(a_step_that_waited_looks_again), // before a stranger has the lock
		cmocka_unit_test(whatever_is_there_counts),
		cmocka_unit_test(a_platform_that_is_away_is_an_error),
		cmocka_unit_test(a_reason_has_an_end),
		cmocka_unit_test(a_stranger_with_the_lock_holds_nobody_up),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

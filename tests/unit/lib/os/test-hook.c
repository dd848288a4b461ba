// SPDX-License-Identifier: Apache-2.0
#include "lib/os/hook.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/os/clock.h"

enum { LONG_MS = 60000, SHORT_MS = 300 };

static int run_until(const char *command, int64_t ms, struct err *e)
{
	static const struct hook_value values[] = {{'v', "wheels.a"}, {'b', "two words"}};
	const _Atomic int64_t end_ms = clock_ms() + ms;
	return hook_run(command, values, ARRAY_SIZE(values), NULL, &end_ms, e);
}

static void assert_fails(const char *command, int64_t ms, const char *words)
{
	struct err e = ERR_INIT;
	assert_int_equal(run_until(command, ms, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	if (!strstr(e.msg, words))
		fail_msg("%s: %s", command, e.msg);
}

static void test_commands_are_valid(void **state UNUSED)
{
	assert_true(hook_is_valid("vos release %v -localauth", "pvw"));
	assert_true(hook_is_valid("100%% %p", "pvw"));
	const char *const wrong[] = {"", " \t", "vos %", "vos %x", "%%%", "vos %%x%y"};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(hook_is_valid(wrong[i], "pvw"));
}

static void test_words_are_words(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(run_until("test %v = wheels.a", LONG_MS, &e), 0);
	assert_int_equal(run_until(" \ttest x%bx%v%%\t =  x%bxwheels.a%% ", LONG_MS, &e), 0);
	assert_int_equal(run_until("test %v = wheels.b", LONG_MS, &e), -1);
	assert_string_equal(e.msg, "test ended with 1");
}

static void test_words_of_values(void **state UNUSED)
{
	static const struct hook_value values[] = {{'n', "-x --index\n%p"}, {'p', "p"}};
	CLEANUP(hook_free_words) char **words = hook_words("a%% %n --p=%p", values, ARRAY_SIZE(values));
	assert_string_equal(words[0], "a%");
	assert_string_equal(words[1], "-x --index\n%p"); // one word, in which nothing is replaced
	assert_string_equal(words[2], "--p=p");
	assert_null(words[3]);
	assert_true(hook_uses("a %%%n", 'n'));
	assert_false(hook_uses("a %%n", 'n'));
	assert_false(hook_uses("a %", 'n'));
}

// The text of a variable reaches no shell.
static void test_variables_are_added_to_the_environment(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const char *const variables[] = {"HOOK_FIRST=a;exit $(false)", "HOOK_OLD=new", NULL};
	const _Atomic int64_t end_ms = clock_ms() + LONG_MS;
	setenv("HOOK_OLD", "old", 1);
	setenv("HOOK_OLDER", "older", 1);
	assert_int_equal(hook_run("sh -c test${IFS}${#HOOK_FIRST}$HOOK_OLD$HOOK_OLDER${IFS}=${IFS}15newolder", NULL, 0,
				 variables, &end_ms, &e),
		0);
	assert_int_equal(hook_run("sh -c test${IFS}x$HOOK_FIRST${IFS}=${IFS}x", NULL, 0, NULL, &end_ms, &e), 0);
	assert_string_equal(getenv("HOOK_OLD"), "old");
}

static void test_errors_name_the_reason(void **state UNUSED)
{
	assert_fails("/nowhere/vos release", LONG_MS, "cannot run /nowhere/vos: "); // valgrind hides the errno
	assert_fails("cat /nowhere/x", LONG_MS, "cat ended with 1: cat: /nowhere/x: No such file");
	assert_fails("sh -c kill${IFS}-9${IFS}$$", LONG_MS, "sh was ended by signal 9");
	assert_fails("sleep 1000", SHORT_MS, "sleep did not end in time");
	assert_fails("seq 100000 nothing", LONG_MS, "seq ended with 1");
	assert_fails("sh -c seq${IFS}99999;exit${IFS}7", LONG_MS, "99998 99999");
}

// The command receives signals that its parent has blocked, and is in a process group of its own.
static void test_it_can_be_ended(void **state UNUSED)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	assert_fails("sh -c trap${IFS}pwd${IFS}15;sleep${IFS}1000", SHORT_MS, " /"); // the output of its trap
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_fails("sh -c trap${IFS}''${IFS}15;sleep${IFS}1000", SHORT_MS, "did not end in time and was ended");
}

// A process in the background keeps the output open; hook_run does not wait for it.
static void test_background(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t begin = clock_ms();
	assert_int_equal(run_until("sh -c sleep${IFS}20&", LONG_MS, &e), 0);
	assert_true(clock_ms() - begin < 15000);
}

static void test_the_output_is_read_and_in_no_message(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const _Atomic int64_t end_ms = clock_ms() + 60000;
	CLEANUP(buf_release) struct buf out = buf_up_to(1000);
	CLEANUP(buf_release) struct buf small = buf_up_to(3);
	assert_int_equal(hook_read("echo a secret", &end_ms, &out, &e), 0);
	assert_string_equal(out.data, "a secret\n");
	assert_int_equal(hook_read("echo a secret", &end_ms, &small, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(hook_read("sh -c echo${IFS}secret;exit${IFS}3", &end_ms, &out, &e), -1);
	assert_string_equal(e.msg, "sh ended with 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_are_valid),
		cmocka_unit_test(test_words_are_words),
		cmocka_unit_test(test_the_output_is_read_and_in_no_message),
		cmocka_unit_test(test_words_of_values),
		cmocka_unit_test(test_variables_are_added_to_the_environment),
		cmocka_unit_test(test_errors_name_the_reason),
		cmocka_unit_test(test_it_can_be_ended),
		cmocka_unit_test(test_background),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

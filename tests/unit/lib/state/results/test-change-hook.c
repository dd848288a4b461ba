// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/change-hook.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "tests/unit/support/attempts.h"

static char told[80], script[80];

// A script that writes its arguments and the facts to a file.
static void write_script(const char *body)
{
	FILE *file = fopen(script, "w");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", body);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(script, 0755), 0);
}

static int make_script(void **state)
{
	if (attempts_make_folder(state) < 0)
		return -1;
	*strrchr(attempts_path, '/') = '\0'; // FOLDER/new
	*strrchr(attempts_path, '/') = '\0';
	snprintf(told, sizeof(told), "%s/told", attempts_path);
	snprintf(script, sizeof(script), "%s/script", attempts_path);
	setenv("TOLD", told, 1);
	return 0;
}

static int remove_script(void **state)
{
	unlink(told);
	unlink(script);
	return attempts_remove_folder(state);
}

static char *read_told(void)
{
	struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, 64 << 10);
	attempts_ok(safefile_read(told, &out, &e), &e);
	unlink(told);
	return buf_steal(&out);
}

static void command_gets_the_facts_as_they_are(void **state UNUSED)
{
	struct hook_queue *h = hook_queue_new("[build]");
	struct results_attempt a = attempts_make("a", RESULTS_TEST_FAILED, 1795377600);
	CLEANUP(mem_free) char *command = xasprintf("%s %%p %%v %%n-%%r", script);
	write_script("echo \"$*|$WHEELCACHE_CHANGE|$WHEELCACHE_PLATFORM|$WHEELCACHE_PYTHON|$WHEELCACHE_PROJECT|"
		     "$WHEELCACHE_VERSION|$WHEELCACHE_RESULT|$WHEELCACHE_STEP|$WHEELCACHE_WHY|$WHEELCACHE_BUILDER|"
		     "$WHEELCACHE_BEGUN|$WHEELCACHE_SECONDS|${#WHEELCACHE_ID}\" >> \"$TOLD\"");
	a.step = "test";
	a.why = "$(touch /tmp/x); `id` \"'";
	change_hook_add(h, command, &a, RESULTS_NOW_FAILS);
	change_hook_add(h, command, &a, RESULTS_UNCHANGED);
	change_hook_add(h, NULL, &a, RESULTS_NOW_FAILS);
	a.result = RESULTS_OK;
	a.why = NULL;
	a.project = "b";
	change_hook_add(h, command, &a, RESULTS_NOW_GOOD);
	hook_queue_free(h, 30);
	CLEANUP(mem_free) char *text = read_told();
	assert_string_equal(text,
		"debian-12-x86_64 3.11 a-1.0|failed|debian-12-x86_64|3.11|a|1.0|test-failed|test|$(touch /tmp/x); `id` "
		"\"'|host|2026-11-22T20:00:00Z|2|32\n"
		"debian-12-x86_64 3.11 b-1.0|good|debian-12-x86_64|3.11|b|1.0|ok|test||host|2026-11-22T20:00:00Z|2|"
		"32\n");
}

// More changes than the queue holds, and a command that never ends.
static void nothing_waits_for_a_command_that_hangs(void **state UNUSED)
{
	struct hook_queue *h = hook_queue_new("[build]");
	struct results_attempt a = attempts_make("a", RESULTS_FAILED, attempts_now);
	int64_t begun = clock_ms();
	write_script("echo begun >> \"$TOLD\"; sleep 1000");
	for (int i = 0; i < HOOK_QUEUE_MOST + 20; i++) {
		CLEANUP(mem_free) char *project = xasprintf("a%d", i);
		a.project = project;
		change_hook_add(h, script, &a, RESULTS_NOW_FAILS);
	}
	a.project = "a";
	assert_true(clock_ms() - begun < 10000);
	hook_queue_free(h, 1);
	assert_true(clock_ms() - begun < 20000);
	CLEANUP(mem_free) char *text = read_told();
	assert_string_equal(text, "begun\n");
}

static void command_that_fails_does_not_stop_the_others(void **state UNUSED)
{
	struct hook_queue *h = hook_queue_new("[build]");
	struct results_attempt a = attempts_make("a", RESULTS_FAILED, attempts_now);
	write_script("echo $WHEELCACHE_CHANGE >> \"$TOLD\"; exit 3");
	change_hook_add(h, "/nowhere/x", &a, RESULTS_NOW_FAILS);
	change_hook_add(h, script, &a, RESULTS_NOW_FAILS);
	a.project = "b";
	change_hook_add(h, script, &a, RESULTS_NOW_GOOD);
	hook_queue_free(h, 30);
	CLEANUP(mem_free) char *text = read_told();
	assert_string_equal(text, "failed\ngood\n");
}

// One command runs; a project that changes all the time has one that waits, in its turn.
static void changes_of_a_project_join(void **state UNUSED)
{
	struct hook_queue *h = hook_queue_new("[build]");
	struct results_attempt a = attempts_make("z", RESULTS_FAILED, attempts_now);
	CLEANUP(mem_free) char *go_on = xasprintf("%s.go", told);
	write_script("echo \"$WHEELCACHE_PROJECT $WHEELCACHE_VERSION:$WHEELCACHE_CHANGES\" >> \"$TOLD\"\n"
		     "touch \"$TOLD.on\"\n"
		     "i=0; while ! [ -e \"$TOLD.go\" ] && [ $((i += 1)) -lt 600 ]; do sleep 0.05; done");
	CLEANUP(mem_free) char *is_on = xasprintf("%s.on", told);
	a.project = "z";
	change_hook_add(h, script, &a, RESULTS_NOW_FAILS);
	for (int i = 0; i < 1000 && access(is_on, F_OK) < 0; i++)
		usleep(10000);
	a.project = "b";
	for (int i = 0; i < HOOK_QUEUE_JOINED + 2; i++)
		change_hook_add(h, script, &a, i % 2 ? RESULTS_NOW_GOOD : RESULTS_NOW_FAILS);
	a.project = "c";
	change_hook_add(h, script, &a, RESULTS_NOW_FAILS);
	a.version = "2.0";
	change_hook_add(h, script, &a, RESULTS_NOW_GOOD);
	fclose(fopen(go_on, "w"));
	hook_queue_free(h, 30);
	unlink(go_on);
	unlink(is_on);
	CLEANUP(mem_free) char *text = read_told();
#define CELL " debian-12-x86_64 3.11 "
	assert_memory_equal(text, "z 1.0:failed" CELL "z 1.0\nb 1.0:failed" CELL "b 1.0\ngood ", 83);
	assert_non_null(strstr(text, "and 2 more\nc 2.0:failed" CELL "c 1.0\ngood" CELL "c 2.0\n"));
	size_t lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 1 + HOOK_QUEUE_JOINED + 1 + 2);
}

// What an operator's command would take for an option, or a path, is never a word of it.
static void only_names_and_versions_reach_the_command(void **state UNUSED)
{
	static const char *const versions[] = {"--output=evil", "-rf", "1/../2", "", "1 -x"};
	struct hook_queue *h = hook_queue_new("[build]");
	struct results_attempt a = attempts_make("a", RESULTS_FAILED, attempts_now);
	CLEANUP(mem_free) char *command = xasprintf("%s %%n %%r", script);
	write_script("echo \"$*|$WHEELCACHE_PROJECT|$WHEELCACHE_VERSION\" >> \"$TOLD\"");
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		a.version = versions[i];
		change_hook_add(h, command, &a, RESULTS_NOW_FAILS);
	}
	a.version = "V1.0-RC1";
	a.project = "-x";
	change_hook_add(h, command, &a, RESULTS_NOW_FAILS);
	a.project = "A_b";
	change_hook_add(h, command, &a, RESULTS_NOW_FAILS);
	hook_queue_free(h, 30);
	CLEANUP(mem_free) char *text = read_told();
	assert_string_equal(text, "a-b 1.0rc1|a-b|1.0rc1\n");
}

static void nothing_is_started_without_a_change(void **state UNUSED)
{
	hook_queue_free(hook_queue_new("[build]"), 30);
	hook_queue_free(NULL, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_gets_the_facts_as_they_are),
		cmocka_unit_test(nothing_waits_for_a_command_that_hangs),
		cmocka_unit_test(command_that_fails_does_not_stop_the_others),
		cmocka_unit_test(changes_of_a_project_join),
		cmocka_unit_test(only_names_and_versions_reach_the_command),
		cmocka_unit_test(nothing_is_started_without_a_change),
	};
	return cmocka_run_group_tests(tests, make_script, remove_script);
}

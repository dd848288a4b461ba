// SPDX-License-Identifier: Apache-2.0
#include "builder/step/log-reason.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/os/clock.h"
#include "lib/os/fs.h"

enum { LOGS = 60 };

// As pip 24 and 26 print it.
#define PIP_BEFORE                                                                                                     \
	"  Getting requirements to build wheel: started\n"                                                             \
	"  error: subprocess-exited-with-error\n  \n"                                                                  \
	"  \xc3\x97 Getting requirements to build wheel did not run successfully.\n"
#define PIP_AFTER                                                                                                      \
	"      [end of output]\n  \n"                                                                                  \
	"  note: This error originates from a subprocess, and is likely not a problem with pip.\n"                     \
	"ERROR: Failed to build 'a' when getting requirements to build wheel\n\n"                                      \
	"[notice] A new release of pip is available: 24.0 -> 26.3\n"
#define GCC "      x.c:1:23: error: 'oops' undeclared (first use in this function)\n      x.c:2:1: error: second\n"

static const struct {
	const char *output, *reason;
	int signal;
} samples[] = {
	{"", "", 0},
	{" \n---\n\n", "", 0},
	{"one\ntwo\n \n", "two", 0},
	{"note: nothing\n", "", 0},
	{"a\x1b[31mb\x1b[0m\x07\tc\n", "ab  c", 0},
	{"\xff is no text\n", "? is no text", 0},
	{PIP_BEFORE "  \xe2\x94\x82 exit code: 1\n  \xe2\x95\xb0\xe2\x94\x80> [2 lines of output]\n"
		    "      Traceback (most recent call last):\n      ValueError: bad value\n" PIP_AFTER,
		"ValueError: bad value", 0},
	{PIP_BEFORE "  \xe2\x94\x82 exit code: -11\n  \xe2\x95\xb0\xe2\x94\x80> [0 lines of output]\n" PIP_AFTER,
		"Getting requirements to build wheel did not run successfully.", 11},
	{"gcc -c x.c\n" GCC "      error: command '/usr/bin/gcc' failed with exit code 1\n" PIP_AFTER,
		"x.c:1:23: error: 'oops' undeclared (first use in this function)", 0},
	{GCC "make: *** [Makefile:3: x.o] Error 1\n", "x.c:1:23: error: 'oops' undeclared (first use in this function)",
		0},
	{"    raise CalledProcessError(\nsubprocess.CalledProcessError: Command 'pkg-config' failed\n",
		"subprocess.CalledProcessError: Command 'pkg-config' failed", 0},
	{"error: command 'gcc' failed: No such file or directory\n",
		"error: command 'gcc' failed: No such file or directory", 0},
	{"exit code: -1234567890123\nexit code: -x\nwords\n", "words", 0},
};

static void test_reasons(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LOG_REASON);
		log_reason(str_from(samples[i].output), &out);
		assert_string_equal(out.data, samples[i].reason);
		assert_int_equal(log_reason_signal(str_from(samples[i].output)), samples[i].signal);
	}
}

// The first line of each file is the reason, behind "away: " where the network is at fault.
static void expect_reason(const char *folder, const char *name)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, 1 << 20);
	buf_init(&out, LOG_REASON + 16);
	if (fs_read_file(path, &text, &e) < 0)
		fail_msg("%s", e.msg);
	struct str log = buf_view(&text), wanted = str_cut(&log, '\n');
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LOG_REASON);
	buf_puts(&out, log_reason(log_reason_part(log), &reason) == LOG_CAUSE_AWAY ? "away: " : "");
	buf_str(&out, buf_view(&reason));
	if (!str_eq(buf_view(&out), wanted))
		fail_msg("%s: %s", name, out.data);
}

static void test_real_logs(void **state UNUSED)
{
	const char *top = getenv("srcdir");
	CLEANUP(mem_free) char *folder = xasprintf("%s/tests/data/build-logs", top ? top : ".");
	DIR *logs = opendir(folder);
	size_t count = 0;
	assert_non_null(logs);
	for (const struct dirent *one; (one = readdir(logs));)
		if (str_ends(str_from(one->d_name), STR(".txt"))) {
			expect_reason(folder, one->d_name);
			count++;
		}
	closedir(logs);
	assert_true(count >= LOGS);
}

// Megabytes in one line, as a binary file that was printed.
static void test_long_lines_are_cut(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, 4 << 20);
	buf_init(&out, LOG_REASON);
	while (!text.failed)
		buf_puts(&text, "abcdefg\xc3\xa4");
	log_reason(buf_view(&text), &out);
	assert_false(out.failed);
	assert_true(out.len > LOG_REASON - 4 && str_is_utf8(buf_view(&out)));
}

// An error far before the end is not looked for, so that the time is bounded.
static void test_many_lines_cost_little(void **state UNUSED)
{
	static const char warning[] = "x.c:1:1: warning: nothing\n";
	for (unsigned count = 9000; count <= 309000; count += 300000) {
		CLEANUP(buf_release) struct buf text, out;
		buf_init(&text, 16 << 20);
		buf_init(&out, LOG_REASON);
		buf_puts(&text, GCC);
		for (unsigned i = 0; i < count; i++)
			buf_str(&text, str_from(warning));
		buf_puts(&text, "make: *** [Makefile:3: x.o] Error 1\n");
		int64_t begun = clock_ms();
		log_reason(buf_view(&text), &out);
		assert_true(clock_ms() - begun < 30000);
		assert_true(str_starts(buf_view(&out), count < 10000 ? STR("x.c:1:23: error: ") : STR("make: *** ")));
	}
}

static void test_any_text_becomes_a_line(void **state UNUSED)
{
	static const struct {
		const char *text, *line;
	} lines[] = {
		{"a\nb\x1b[1mc", "a bc"},
		{"", ""},
		{"a\xc3", "a"},
		{"\xff\xfe z", "?? z"},
		{"\xc3\xa4", "\xc3\xa4"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LOG_REASON);
		log_reason_line(str_from(lines[i].text), &out);
		assert_string_equal(out.data, lines[i].line);
	}
}

static void test_part_of_last_command(void **state UNUSED)
{
	static const struct {
		const char *log, *part;
	} parts[] = {
		{"no mark\n", "no mark\n"},
		{"--- a\nout of a\n--- b\nout --- of b\n", "out --- of b\n"},
		{"--- a\n", ""},
		{"--- a", ""},
		{"", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct str part = log_reason_part(str_from(parts[i].log));
		assert_int_equal(part.len, strlen(parts[i].part));
		assert_memory_equal(part.ptr, parts[i].part, part.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_real_logs),
		cmocka_unit_test(test_long_lines_are_cut),
		cmocka_unit_test(test_many_lines_cost_little),
		cmocka_unit_test(test_any_text_becomes_a_line),
		cmocka_unit_test(test_part_of_last_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

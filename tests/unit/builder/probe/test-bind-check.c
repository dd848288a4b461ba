// SPDX-License-Identifier: Apache-2.0
// The program that loads the module is a script here, which writes what a dynamic loader could.
// tests/e2e/test_binding.py has the real one.
#include "builder/probe/bind-check.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "builder/run/supervisor.h"
#include "lib/base/limits.h"

enum { SECONDS = 60, SHORT_SECONDS = 1 };

static char folder[32];
static char module[64]; // a copy of this program
static char libc[256];
static char renamed[64]; // a link to libc

// What the script has: $1 the result, $4 the module; write prints a binding of it.
static const char head[] =
	"#!/bin/sh\n"
	"module=$4 log=$LD_DEBUG_OUTPUT.1 logs=$LD_DEBUG_OUTPUT\n"
	"unset LD_DEBUG LD_DEBUG_OUTPUT\n"
	"rm -f $logs.*\n"
	"printf loaded >$1\n"
	"write() { printf \"%8d:\\tbinding file %s [0] to %s [0]: normal symbol \\`%s'\\n\" 1 $1 $2 $3; }\n";

static const char *program; // this one; /proc/self/exe is valgrind below valgrind

struct checked {
	struct bind_report report;
	struct err e;
	int result;
};

static void write_loader(const char *path, const char *script)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s%s", head, script);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static void check(const char *script, const struct bind_options *more, struct checked *out)
{
	char loader[64];
	snprintf(loader, sizeof(loader), "%s/loader", folder);
	write_loader(loader, script);
	struct bind_options o = *more;
	o.module = module;
	o.loader = loader;
	o.seconds = o.seconds ? o.seconds : SECONDS;
	*out = (struct checked){.e = ERR_INIT};
	out->result = bind_check(&o, &out->report, &out->e);
}

static const struct bind_expectation expect_f = {"f", "libc.so.6"};

static void check_f(const char *script, struct checked *out)
{
	const struct bind_options o = {.expect = &expect_f, .expects = 1};
	check(script, &o, out);
}

static const struct bind_run *plain_run(const struct checked *c)
{
	if (c->result < 0)
		fail_msg("%s", c->e.msg);
	return &c->report.run[BIND_PLAIN];
}

static void test_library_is_a_file_name_or_a_soname(void **state UNUSED)
{
	static const struct {
		const char *script;
		enum bind_result result;
	} samples[] = {
		{"write $module $LIBC f >$log", BIND_OK},
		{"write $module $RENAMED f >$log", BIND_OK},
		{"write $module /nowhere/libc.so.6 f >$log", BIND_OK},
		{"write $module /nowhere/libx.so f >$log", BIND_WRONG},
		{"write $module /nowhere/libc.so.6 g >$log", BIND_ABSENT},
		{"write /another/module /nowhere/libx.so f >$log; write $module $LIBC f >>$log", BIND_OK},
		{"i=0; while [ $i -lt 50 ]; do write $module $LIBC f; i=$((i + 1)); done >$log", BIND_OK},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct checked c;
		CLEANUP(mem_free)
		char *script = xasprintf("LIBC=%s RENAMED=%s\n%s\n", libc, renamed, samples[i].script);
		check_f(script, &c);
		const struct bind_run *r = plain_run(&c);
		assert_null(r->failure);
		assert_int_equal(r->lines.count, 1);
		assert_int_equal(r->lines.line[0].result, samples[i].result);
		assert_int_equal(r->errors, samples[i].result != BIND_OK);
		bind_report_release(&c.report);
	}
}

static void test_expectations_are_globs(void **state UNUSED)
{
	static const struct bind_expectation expect[] = {{"ucp_*", "libucp-*"}, {"*", "*"}, {"u*_b", "libucp-?.so"}};
	const struct bind_options o = {.expect = expect, .expects = ARRAY_SIZE(expect)};
	struct checked c;
	check("(write $module /x/libucp-1.so ucp_a; write $module /x/libucp.so ucp_b) >$log\n", &o, &c);
	const struct bind_run *r = plain_run(&c);
	static const enum bind_result results[] = {BIND_OK, BIND_WRONG, BIND_OK, BIND_OK, BIND_WRONG};
	assert_int_equal(r->lines.count, ARRAY_SIZE(results));
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		assert_int_equal(r->lines.line[i].result, results[i]);
	assert_string_equal(r->lines.line[1].symbol, "ucp_b");
	assert_string_equal(r->lines.line[1].target, "/x/libucp.so");
	assert_int_equal(r->errors, 2);
	bind_report_release(&c.report);
}

static void test_needed_libraries(void **state UNUSED)
{
	static const char *const needed[] = {"libc.so.*", "libnothing*"};
	const struct bind_options o = {.needed = needed, .neededs = ARRAY_SIZE(needed)};
	struct checked c;
	check(": >$log\n", &o, &c);
	const struct bind_run *r = plain_run(&c);
	assert_int_equal(r->lines.count, 2);
	assert_int_equal(r->lines.line[0].result, BIND_NEEDED_OK);
	assert_string_equal(r->lines.line[0].symbol, "libc.so.6");
	assert_int_equal(r->lines.line[1].result, BIND_NEEDED_ABSENT);
	assert_int_equal(r->errors, 1);
	bind_report_release(&c.report);
}

// The words and variables of each of the three runs.
static void test_three_runs(void **state UNUSED)
{
	static const char *const preload[] = {"libother.so.1"}, *const variable[] = {"A=b c"};
	const struct bind_options o = {.preload = preload, .preloads = 1, .variable = variable, .variables = 1};
	static const char *const words[BIND_MODE_COUNT] = {
		"-  b c", "- libother.so.1 b c", "deepbind libother.so.1 b c"};
	struct checked c;
	check(": >$log; printf '%s %s %s' $2 \"$5\" \"$A\" >$1\n", &o, &c);
	for (enum bind_mode mode = BIND_PLAIN; mode < BIND_MODE_COUNT; mode++) {
		plain_run(&c);
		assert_string_equal(c.report.run[mode].failure, words[mode]);
		assert_null(c.report.run[mode].skipped);
	}
	bind_report_release(&c.report);
	check(": >$log\n", &(struct bind_options){0}, &c);
	assert_null(plain_run(&c)->skipped);
	assert_non_null(c.report.run[BIND_PRELOADED].skipped);
	assert_null(c.report.run[BIND_DEEPBIND].skipped);
	bind_report_release(&c.report);
}

static void test_what_is_not_loaded(void **state UNUSED)
{
	static const struct {
		const char *script, *failure;
	} samples[] = {
		{": >$log; printf 'x.so: undefined symbol: \\033a' >$1", "x.so: undefined symbol: ?a"},
		{": >$log; rm $1; kill -SEGV $$",
			"the process that loads it: it was ended by signal 11 (Segmentation fault)"},
		{": >$log; rm $1; exit 0", "the process that loads it: it ended with exit code 0"},
		{"echo one; echo two >&2; exit 7",
			"the process that loads it: it ended with exit code 7; it said: two"},
		{"sleep 100", "the process that loads it: it did not end within 1 seconds"},
		{"rm $1; ln -s /dev/zero $1", "the process that loads it: it ended with exit code 0"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct checked c;
		const struct bind_options o = {.expect = &expect_f,
			.expects = 1,
			.seconds = strncmp(samples[i].script, "sleep", 5) == 0 ? SHORT_SECONDS : SECONDS};
		CLEANUP(mem_free) char *script = xasprintf("%s\n", samples[i].script);
		check(script, &o, &c);
		assert_string_equal(plain_run(&c)->failure, samples[i].failure);
		assert_int_equal(plain_run(&c)->errors, 1);
		bind_report_release(&c.report);
	}
}

static void assert_failed(const char *script, enum err_kind kind, const char *words)
{
	struct checked c;
	static const struct bind_expectation all = {"*", "*"};
	check(script, &(struct bind_options){.expect = &all, .expects = 1}, &c);
	assert_int_equal(c.result, -1);
	assert_int_equal(c.e.kind, kind);
	if (!strstr(c.e.msg, words))
		fail_msg("%s", c.e.msg);
	bind_report_release(&c.report);
}

// awk is quicker than the shell.
#define MANY(number)                                                                                                   \
	"awk -v m=$module 'BEGIN { for (i = 0; i < " number "; i++) "                                                  \
	"printf \"%8d:\\tbinding file %s [0] to /x [0]: normal symbol `f%d%c\\n\", 1, m, i, 39 }' >$log\n"

// Exceeds LIMIT_BINDINGS, LIMIT_BIND_FILE.
static void test_limits(void **state UNUSED)
{
	assert_int_equal(LIMIT_BINDINGS, 131072);
	assert_failed(MANY("131072"), ERR_LIMIT, "more than 65536 symbols");
	assert_failed("truncate -s 268435457 $log\n", ERR_LIMIT, "268435456 bytes");
}

static void test_loader_that_reports_nothing(void **state UNUSED)
{
	assert_failed("", ERR_IO, "only glibc");
	assert_failed("mkfifo $log\n", ERR_INVALID, "is not what");
	assert_failed("ln -s /dev/zero $log\n", ERR_IO, "bindings-plain");
}

static void test_modules_that_are_none(void **state UNUSED)
{
	struct bind_report report;
	static const struct {
		const char *path;
		enum err_kind kind;
	} samples[] = {{"/nowhere/a.so", ERR_NOT_FOUND}, {"/dev/null", ERR_INVALID}, {"/tmp", ERR_INVALID},
		{"/", ERR_INVALID}};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct err e = ERR_INIT;
		const struct bind_options o = {.module = samples[i].path, .loader = "/bin/false", .seconds = SECONDS};
		assert_int_equal(bind_check(&o, &report, &e), -1);
		assert_int_equal(e.kind, samples[i].kind);
		bind_report_release(&report);
	}
}

static int count_scratch_folders(void)
{
	FILE *f = popen("ls -d $TMPDIR/wheelcache-probe-* 2>/dev/null | wc -l", "r");
	int count = -1;
	if (!f || fscanf(f, "%d", &count) != 1)
		count = -1;
	if (f)
		pclose(f);
	return count;
}

static int make_files(void **state UNUSED)
{
	struct link_map *map = NULL;
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	char command[512];
	snprintf(folder, sizeof(folder), "/tmp/bind-XXXXXX");
	if (!mkdtemp(folder) || setenv("TMPDIR", folder, 1) < 0 || !handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) < 0)
		return -1;
	snprintf(libc, sizeof(libc), "%s", map->l_name);
	snprintf(module, sizeof(module), "%s/module.so", folder);
	snprintf(renamed, sizeof(renamed), "%s/renamed.so", folder);
	snprintf(command, sizeof(command), "cp %s %s", program, module);
	return system(command) || symlink(libc, renamed);
}

static int remove_files(void **state UNUSED)
{
	char command[64];
	int left = count_scratch_folders();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) || left;
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_is_a_file_name_or_a_soname),
		cmocka_unit_test(test_expectations_are_globs),
		cmocka_unit_test(test_needed_libraries),
		cmocka_unit_test(test_three_runs),
		cmocka_unit_test(test_what_is_not_loaded),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_loader_that_reports_nothing),
		cmocka_unit_test(test_modules_that_are_none),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}

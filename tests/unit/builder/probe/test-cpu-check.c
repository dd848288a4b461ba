// SPDX-License-Identifier: Apache-2.0
// qemu is a script here, which runs the interpreter itself: an illegal instruction is a signal that a module sends.
// tests/e2e/test_cpu.py has the real one.
#include "builder/probe/cpu-check.h"

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
#include "tests/unit/support/zipmake.h"

enum { SECONDS = 60, SHORT_SECONDS = 4 };

static char folder[32];
static char wheel[64];
static char path_variable[512];

// Notes its words, sets the variables of -E, and runs the rest. qemu sends the signal to itself too.
static const char qemu[] = "#!/bin/sh\n"
			   "printf '%%s\\n' \"$*\" >%s/words\n"
			   "model=$2; shift 2\n"
			   "while [ \"$1\" = -E ]; do export \"$2\"; shift 2; done\n"
			   "%s\n"
			   "exec \"$@\"\n";

#define ILLEGAL "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n"

struct checked {
	struct cpu_report report;
	struct err e;
	int result;
};

static void write_text(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static void write_qemu(const char *more)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/qemu-x86_64", folder);
	char text[512];
	int len = snprintf(text, sizeof(text), qemu, folder, more);
	write_text(path, text, (size_t)len);
}

static void write_wheel(const struct zipmake_member *members, size_t count)
{
	struct zipmake z;
	zipmake_init(&z);
	for (size_t i = 0; i < count; i++)
		zipmake_add(&z, &members[i]);
	zipmake_end(&z, "");
	write_text(wheel, z.bytes.data, z.bytes.len);
	zipmake_release(&z);
}

static void check_wheel(uint64_t seconds, struct checked *out)
{
	static const char *const variable[] = {"CPU_TEST=b c"};
	*out = (struct checked){.e = ERR_INIT};
	struct cpu_options o = {
		.wheel = wheel,
		.level = cpu_level_find("v2", &out->e),
		.python = "/usr/bin/python3",
		.variable = variable,
		.variables = ARRAY_SIZE(variable),
		.seconds = seconds,
	};
	out->result = cpu_check(&o, &out->report, &out->e);
}

static void assert_module(const struct checked *c, size_t i, const char *name, enum cpu_result result, const char *why)
{
	if (c->result < 0)
		fail_msg("%s", c->e.msg);
	assert_true(i < c->report.count);
	const struct cpu_module *m = &c->report.module[i];
	assert_string_equal(m->name, name);
	if (m->result != result || (why && !strstr(m->why, why)))
		fail_msg("%s: %d, %s", name, m->result, m->why);
	assert_int_equal(m->result == CPU_IMPORTED, m->why == NULL);
}

static void test_levels(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_string_equal(cpu_level_find("v1", &e)->name, "x86-64-v1");
	assert_string_equal(cpu_level_find("x86-64-v2", &e)->model, "Nehalem");
	assert_string_equal(cpu_level_find("v3", &e)->model, "Haswell-noTSX");
	static const char *const none[] = {"v4", "x86-64-v4", "v5", "", "4", "Nehalem"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		assert_null(cpu_level_find(none[i], &e));
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

static void test_modules(void **state UNUSED)
{
	static const struct zipmake_member members[] = {
		{.name = "a/__init__.py", .content = "import os\nassert os.environ['CPU_TEST'] == 'b c'\n"},
		{.name = "a/_x.abi3.so", .content = "no ELF file"},
		{.name = "b/__init__.py", .content = ILLEGAL},
		{.name = "b/_x.abi3.so", .content = "not tried"},
		{.name = "ba.py", .content = "import sys\nsys.exit(1)\n"},
		{.name = "c.py", .content = "import nothing_such\n"},
		{.name = "d.py", .content = "import os\nos._exit(0)\n"},
		{.name = "e.py", .content = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"},
		{.name = "f.py", .content = "raise ValueError('one\\n\\033two')\n"},
		{.name = "x-1.data/purelib/g.py", .content = "import a\n"},
	};
	struct checked c;
	write_qemu("");
	write_wheel(members, ARRAY_SIZE(members));
	check_wheel(SECONDS, &c);
	assert_module(&c, 0, "a", CPU_IMPORTED, NULL);
	assert_module(&c, 1, "a._x", CPU_NOT_IMPORTED, "ImportError: ");
	assert_module(&c, 2, "b", CPU_ILLEGAL, "signal 4");
	assert_null(c.report.module[2].member);
	assert_module(&c, 3, "b._x", CPU_NOT_IMPORTED, "package");
	assert_module(&c, 4, "ba", CPU_NOT_IMPORTED, "SystemExit: 1");
	assert_module(&c, 5, "c", CPU_NOT_IMPORTED, "No module named 'nothing_such'");
	assert_module(&c, 6, "d", CPU_NOT_IMPORTED, "exit code 0");
	assert_module(&c, 7, "e", CPU_NOT_IMPORTED, "signal 11");
	assert_module(&c, 8, "f", CPU_NOT_IMPORTED, "ValueError: one ?two");
	assert_module(&c, 9, "g", CPU_IMPORTED, NULL);
	assert_int_equal(c.report.count, 10);
	assert_int_equal(c.report.number[CPU_ILLEGAL], 1);
	assert_int_equal(c.report.number[CPU_IMPORTED], 2);
	cpu_report_release(&c.report);
}

// In place of what the script calls to load an extension module, the wheel has a function of its own.
static void test_member_of_an_illegal_instruction(void **state UNUSED)
{
	static const struct zipmake_member members[] = {
		{.name = "a/__init__.py",
			.content = "import importlib.machinery as m, os, signal\n"
				   "cell, = m.ExtensionFileLoader.create_module.__closure__\n"
				   "cell.cell_contents = lambda *all: os.kill(os.getpid(), signal.SIGILL)\n"
				   "from a import _x\n"},
		{.name = "a/_x.abi3.so", .content = ""},
	};
	struct checked c;
	write_qemu("");
	write_wheel(members, ARRAY_SIZE(members));
	check_wheel(SECONDS, &c);
	assert_module(&c, 0, "a", CPU_ILLEGAL, NULL);
	assert_string_equal(c.report.module[0].member, "a/_x.abi3.so");
	cpu_report_release(&c.report);
}

static void test_time_limit(void **state UNUSED)
{
	static const struct zipmake_member members[] = {
		{.name = "a.py", .content = ""},
		{.name = "b.py", .content = "import time\ntime.sleep(100)\n"},
		{.name = "c.py", .content = ""},
	};
	struct checked c;
	write_qemu("");
	write_wheel(members, ARRAY_SIZE(members));
	check_wheel(SHORT_SECONDS, &c);
	assert_module(&c, 0, "a", CPU_IMPORTED, NULL);
	assert_module(&c, 1, "b", CPU_NOT_IMPORTED, "the time was over");
	assert_module(&c, 2, "c", CPU_NOT_IMPORTED, "the time was over");
	cpu_report_release(&c.report);
}

static void assert_refused(enum err_kind kind, const char *words)
{
	struct checked c;
	check_wheel(SECONDS, &c);
	assert_int_equal(c.result, -1);
	assert_int_equal(c.e.kind, kind);
	if (!strstr(c.e.msg, words))
		fail_msg("%s", c.e.msg);
	cpu_report_release(&c.report);
}

static void test_what_cannot_be_tried(void **state UNUSED)
{
	static const struct zipmake_member one[] = {{.name = "a.py", .content = ""}};
	write_wheel(one, 1);
	write_qemu("kill -ILL $$");
	assert_refused(ERR_IO, "does not run with x86-64-v2: it was ended by signal 4");
	write_qemu("echo \"TCG doesn't support requested feature: CPUID.07H:EBX.avx2 [bit 5]\"");
	assert_refused(ERR_IO, "does not emulate AVX2");
	write_qemu("echo no; exit 3");
	assert_refused(ERR_IO, "it ended with exit code 3; it said: no");
	write_text(wheel, "PK", 2);
	write_qemu("");
	assert_refused(ERR_INVALID, wheel);
}

// Exceeds LIMIT_CPU_MODULES, LIMIT_CPU_RESULT.
static void test_limits(void **state UNUSED)
{
	enum { MORE = 3 };
	struct zipmake z;
	struct checked c;
	char name[32];
	zipmake_init(&z);
	for (int i = 0; i < LIMIT_CPU_MODULES + MORE; i++) {
		snprintf(name, sizeof(name), "a/m%05d.abi3.so", i);
		zipmake_add(&z, &(struct zipmake_member){.name = name, .content = ""});
	}
	zipmake_end(&z, "");
	write_text(wheel, z.bytes.data, z.bytes.len);
	zipmake_release(&z);
	write_qemu("");
	check_wheel(SECONDS, &c);
	assert_module(&c, LIMIT_CPU_MODULES - 1, "a.m01023", CPU_NOT_IMPORTED, "ImportError");
	assert_int_equal(c.report.count, LIMIT_CPU_MODULES);
	assert_int_equal(c.report.left_out, MORE);
	cpu_report_release(&c.report);

	static const struct zipmake_member flood[] = {{.name = "a.py",
		.content = "import sys\nf = sys.modules['__main__'].result\n"
			   "for i in range(17):\n    f.write('x' * (1 << 20) + '\\n')\n"}};
	write_wheel(flood, 1);
	assert_refused(ERR_LIMIT, "import wrote");
}

static int make_files(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "/tmp/cpu-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(wheel, sizeof(wheel), "%s/x-1-py3-none-any.whl", folder);
	snprintf(path_variable, sizeof(path_variable), "%s:/usr/bin:/bin", folder);
	return setenv("PATH", path_variable, 1);
}

static int remove_files(void **state UNUSED)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

// Exceeds LIMIT_PROBE_OUTPUT. Of a flood, the last line says why.
static void test_much_output(void **state UNUSED)
{
	static const struct zipmake_member one[] = {{.name = "a.py", .content = ""}};
	write_wheel(one, 1);
	write_qemu("head -c 1000000 /dev/zero | tr '\\0' '\\n'; echo the end; exit 3");
	assert_refused(ERR_IO, "it ended with exit code 3; it said: the end");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_member_of_an_illegal_instruction),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_what_cannot_be_tried),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_much_output),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}

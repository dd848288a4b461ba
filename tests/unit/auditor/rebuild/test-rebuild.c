// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define X86_64 .machine = 62, .is_64 = true, .is_shared = true, .is_dynamic = true

static struct platform_offer *offer;
static struct filename wheel_name = {.kind = FILENAME_WHEEL, .stem = STR("p-1")};

static const char list[] = "wheelcache-provides 1 8 33\n"
			   "library * libbad.so.1 lib/libbad.so.1\n"
			   "unreadable\n"
			   "name libbad.so.1\n"
			   "library x86_64 ld-musl-x86_64.so.1 lib/ld-musl-x86_64.so.1\n"
			   "name ld-musl-x86_64.so.1\n"
			   "library x86_64 libc.so.6 lib/libc.so.6\n"
			   "name libc.so.6\n"
			   "version GLIBC_2.2.5\n"
			   "version GLIBC_2.34\n"
			   " dlopen@GLIBC_2.2.5\n"
			   " dlopen@GLIBC_2.34\n"
			   " puts@GLIBC_2.2.5\n"
			   "library x86_64 libdeep.so.1 lib/libdeep.so.1\n"
			   "name libdeep.so.1\n"
			   " deep\n"
			   "library x86_64 libdl.so.2 lib/libdl.so.2\n"
			   "name libdl.so.2\n"
			   "version GLIBC_2.2.5\n"
			   "version GLIBC_2.3.3\n"
			   "library x86_64 libother.so.1 lib/libother.so.1\n"
			   "name libother.so.1\n"
			   "library x86_64 libre2.so.11 lib/libre2.so.11.0.0\n"
			   "name libre2.so.11\n"
			   "needed libdeep.so.1\n"
			   " match\n"
			   "library x86_64 libssl.so.3 lib/libssl.so.3\n"
			   "name libssl.so.3\n"
			   "version OPENSSL_3.0.0\n"
			   " SSL_new@OPENSSL_3.0.0\n"
			   " SSL_old\n"
			   "version OPENSSL_3.2.0\n"
			   " SSL_read@OPENSSL_3.0.0\n"
			   " SSL_next@OPENSSL_3.2.0\n";

static int open_list(void **state UNUSED)
{
	char path[] = "/tmp/wheelcache-rebuild-XXXXXX";
	struct err e = ERR_INIT;
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, list, sizeof(list) - 1) != (ssize_t)(sizeof(list) - 1))
		return -1;
	close(fd);
	int result = platform_offer_open(path, &offer, &e);
	unlink(path);
	if (result < 0)
		print_error("%s\n", e.msg);
	return result;
}

static int close_list(void **state UNUSED)
{
	platform_offer_free(offer);
	return 0;
}

// One file of a wheel: all lists end with NULL or an empty row.
struct file_case {
	const char *path, *soname, *rpath, *damage;
	const char *needed[6];
	struct elf_version version[4];
	struct elf_symbol symbol[6];
	unsigned machine; // 0: x86_64
};

static void fill_file(const struct file_case *from, struct wheel_elf *out)
{
	*out = (struct wheel_elf){.path = from->path, .damage = from->damage, .elf = {X86_64}};
	if (from->damage)
		out->elf = (struct elf_facts){0};
	out->elf.soname = from->soname;
	out->elf.rpath = from->rpath;
	if (from->machine)
		out->elf.machine = from->machine;
	out->elf.needed.item = (const char **)(uintptr_t)from->needed;
	while (from->needed[out->elf.needed.count])
		out->elf.needed.count++;
	out->elf.needed_version = (struct elf_version *)(uintptr_t)from->version;
	while (out->elf.needed_versions < ARRAY_SIZE(from->version) && from->version[out->elf.needed_versions].name)
		out->elf.needed_versions++;
	out->elf.symbol = (struct elf_symbol *)(uintptr_t)from->symbol;
	while (out->elf.symbols < ARRAY_SIZE(from->symbol) && from->symbol[out->elf.symbols].name)
		out->elf.symbols++;
}

#define IMPORT(n)                                                                                                      \
	{                                                                                                              \
		.name = (n), .is_imported = true                                                                       \
	}
#define WEAK(n)                                                                                                        \
	{                                                                                                              \
		.name = (n), .is_imported = true, .is_weak = true                                                      \
	}
#define IMPORT_AT(n, v, l)                                                                                             \
	{                                                                                                              \
		.name = (n), .version = (v), .library = (l), .is_imported = true                                       \
	}
#define MODULE .path = "pkg/_x.so"

static const struct verdict_case {
	const char *name, *expected; // state and words
	struct file_case file[2];
	const char *member[3];
} cases[] = {
	{"no native code", "fits: ", {{.path = NULL}}, {"a.py"}},
	{"all is there", "fits: ",
		{{MODULE, .needed = {"libc.so.6", "libre2.so.11"}, .version = {{"libc.so.6", "GLIBC_2.34", false}},
			.symbol = {IMPORT_AT("puts", "GLIBC_2.2.5", "libc.so.6"), IMPORT("match"),
				IMPORT("PyErr_Occurred"), IMPORT("_Py_Dealloc"), WEAK("__gmon_start__")}}},
		{"pkg/_x.so"}},
	{"another number", "soname-gone: libre2.so.9 is gone; libre2.so.11 is there",
		{{MODULE, .needed = {"libre2.so.9"}}}, {"pkg/_x.so"}},
	{"no other number", "soname-gone: libvirt.so.0 is gone; nothing replaces it",
		{{MODULE, .needed = {"libvirt.so.0"}}}, {"pkg/_x.so"}},
	{"brought by its file name", "fits: ",
		{{MODULE, .needed = {"libre2-1234.so.9"}}, {.path = "pkg.libs/libre2-1234.so.9"}}, {"pkg/_x.so"}},
	{"brought by its SONAME",
		"fits: ", {{MODULE, .needed = {"libre2.so.9"}}, {.path = "pkg/lib/re2.bin", .soname = "libre2.so.9"}},
		{"pkg/_x.so"}},
	{"what a brought library needs", "soname-gone: libre2.so.9 is gone; libre2.so.11 is there",
		{{MODULE, .needed = {"libown.so"}}, {.path = "x.libs/libown.so", .needed = {"libre2.so.9"}}},
		{"pkg/_x.so"}},
	{"version gone", "version-gone: libc.so.6 does not define version GLIBC_2.38",
		{{MODULE, .needed = {"libc.so.6"}, .version = {{"libc.so.6", "GLIBC_2.38", false}}}}, {"pkg/_x.so"}},
	{"weak version", "fits: ", {{MODULE, .needed = {"libc.so.6"}, .version = {{"libc.so.6", "GLIBC_2.38", true}}}},
		{"pkg/_x.so"}},
	{"version of a library without any", "fits: ",
		{{MODULE, .needed = {"libre2.so.11"}, .version = {{"libre2.so.11", "RE2_9", false}},
			.symbol = {IMPORT_AT("match", "RE2_9", "libre2.so.11")}}},
		{"pkg/_x.so"}},
	{"soname outranks version", "soname-gone: libre2.so.9 is gone; libre2.so.11 is there",
		{{MODULE, .needed = {"libc.so.6", "libre2.so.9"}, .version = {{"libc.so.6", "GLIBC_2.38", false}}}},
		{"pkg/_x.so"}},
	{"versioned symbol gone", "symbol-gone: libssl.so.3 does not define SSL_write@OPENSSL_3.0.0",
		{{MODULE, .needed = {"libssl.so.3"}, .version = {{"libssl.so.3", "OPENSSL_3.0.0", false}},
			.symbol = {IMPORT_AT("SSL_new", "OPENSSL_3.0.0", "libssl.so.3"),
				IMPORT_AT("SSL_write", "OPENSSL_3.0.0", "libssl.so.3")}}},
		{"pkg/_x.so"}},
	{"symbol of another version", "symbol-gone: libssl.so.3 does not define SSL_next@OPENSSL_3.0.0",
		{{MODULE, .needed = {"libssl.so.3"},
			.symbol = {IMPORT_AT("SSL_next", "OPENSSL_3.0.0", "libssl.so.3")}}},
		{"pkg/_x.so"}},
	{"symbol moved to a library in scope", "fits: ",
		{{MODULE, .needed = {"libdl.so.2", "libc.so.6"}, .version = {{"libdl.so.2", "GLIBC_2.2.5", false}},
			.symbol = {IMPORT_AT("dlopen", "GLIBC_2.2.5", "libdl.so.2")}}},
		{"pkg/_x.so"}},
	{"symbol of a missing version is one reason", "version-gone: libssl.so.3 does not define version OPENSSL_4.0.0",
		{{MODULE, .needed = {"libssl.so.3"}, .version = {{"libssl.so.3", "OPENSSL_4.0.0", false}},
			.symbol = {IMPORT_AT("SSL_x", "OPENSSL_4.0.0", "libssl.so.3")}}},
		{"pkg/_x.so"}},
	{"plain symbol gone", "symbol-gone: libre2.so.11 does not define consume",
		{{MODULE, .needed = {"libc.so.6", "libre2.so.11"}, .symbol = {IMPORT("match"), IMPORT("consume")}}},
		{"pkg/_x.so"}},
	{"plain symbol of one of two", "symbol-gone: no library defines consume",
		{{MODULE, .needed = {"libother.so.1", "libre2.so.11"}, .symbol = {IMPORT("consume")}}}, {"pkg/_x.so"}},
	{"plain symbol of a library's library",
		"fits: ", {{MODULE, .needed = {"libre2.so.11"}, .symbol = {IMPORT("deep")}}}, {"pkg/_x.so"}},
	{"plain symbol of a library with versions", "fits: ",
		{{MODULE, .needed = {"libre2.so.11", "libssl.so.3"}, .symbol = {IMPORT("SSL_new"), IMPORT("SSL_old")}}},
		{"pkg/_x.so"}},
	{"plain symbol of the wheel", "fits: ",
		{{MODULE, .needed = {"libre2.so.11"}, .symbol = {IMPORT("own")}},
			{.path = "pkg/libown.so", .symbol = {{.name = "own"}}}},
		{"pkg/_x.so"}},
	{"plain symbol of the program", "fits: ",
		{{MODULE, .needed = {"libc.so.6", "libssl.so.3"}, .symbol = {IMPORT("uwsgi_log")}}}, {"pkg/_x.so"}},
	{"weak plain symbol", "fits: ", {{MODULE, .needed = {"libre2.so.11"}, .symbol = {WEAK("consume")}}},
		{"pkg/_x.so"}},
	{"plain symbol where a library is in another package", "unknown: libtorch.so: it may be in another package",
		{{MODULE, .rpath = "$ORIGIN/../torch/lib", .needed = {"libre2.so.11", "libtorch.so"},
			.symbol = {IMPORT("torch_new")}}},
		{"pkg/_x.so"}},
	{"another package, with braces", "unknown: libtorch.so: it may be in another package",
		{{MODULE, .rpath = "/x:${ORIGIN}/../torch/lib", .needed = {"libtorch.so"}}}, {"pkg/_x.so"}},
	{"a package that shares the top folder", "unknown: libcublas.so.12: it may be in another package",
		{{.path = "nvidia/cudnn/lib/libcudnn.so",
			.rpath = "$ORIGIN/../../cublas/lib:$ORIGIN",
			.needed = {"libcublas.so.12"}}},
		{"nvidia/cudnn/lib/libcudnn.so"}},
	{"RPATH inside the wheel", "soname-gone: libvirt.so.0 is gone; nothing replaces it",
		{{MODULE, .rpath = "$ORIGIN/../pkg.libs:$ORIGIN:$ORIGIN/.", .needed = {"libvirt.so.0"}}},
		{"pkg.libs/libx.so", "pkg/_x.so"}},
	{"RPATH inside, of a data folder", "soname-gone: libvirt.so.0 is gone; nothing replaces it",
		{{.path = "p-1.data/platlib/pkg/_x.so", .rpath = "$ORIGIN/../pkg.libs", .needed = {"libvirt.so.0"}}},
		{"p-1.data/platlib/pkg.libs/libx.so", "p-1.data/platlib/pkg/_x.so"}},
	{"RPATH out of the site-packages", "unknown: libvirt.so.0: it may be in a folder that RPATH names",
		{{MODULE, .rpath = "$ORIGIN/../../..", .needed = {"libvirt.so.0"}}}, {"pkg/_x.so"}},
	{"absolute RPATH", "unknown: libvirt.so.0: it may be in a folder that RPATH names",
		{{MODULE, .rpath = "/opt/lib", .needed = {"libvirt.so.0"}}}, {"pkg/_x.so"}},
	{"absolute RPATH, but the system had it", "soname-gone: libre2.so.9 is gone; libre2.so.11 is there",
		{{MODULE, .rpath = "/opt/lib", .needed = {"libre2.so.9"}}}, {"pkg/_x.so"}},
	{"libpython", "fits: ", {{MODULE, .needed = {"libpython3.11.so.1.0"}}}, {"pkg/_x.so"}},
	{"unreadable library", "unknown: libbad.so.1: the platform's copy cannot be read",
		{{MODULE, .needed = {"libbad.so.1"}, .version = {{"libbad.so.1", "V1", false}}}}, {"pkg/_x.so"}},
	{"unreadable library, no versions", "fits: ",
		{{MODULE, .needed = {"libbad.so.1", "libre2.so.11"}, .symbol = {IMPORT("bad")}}}, {"pkg/_x.so"}},
	{"damaged member", "unknown: pkg/_x.so: torn", {{MODULE, .damage = "torn"}}, {"pkg/_x.so"}},
	{"other machine", "unknown: none of its ELF files is for the architecture of the platform's libraries",
		{{MODULE, .machine = 183, .needed = {"libre2.so.9"}}}, {"pkg/_x.so"}},
	{"musl's own names", "fits: ", {{MODULE, .needed = {"libc.musl-x86_64.so.1", "libc.so", "libpthread.so.0"}}},
		{"pkg/_x.so"}},
	{"not musl's own names", "soname-gone: libcrypt.so.1 is gone; nothing replaces it",
		{{MODULE, .needed = {"libcrypt.so.1"}}}, {"pkg/_x.so"}},
};

static void judge_case(const struct verdict_case *c, struct rebuild_verdict *out)
{
	struct wheel_elf file[ARRAY_SIZE(c->file)];
	struct wheel_facts facts = {.elf = file, .member = c->member};
	while (facts.elfs < ARRAY_SIZE(c->file) && c->file[facts.elfs].path) {
		fill_file(&c->file[facts.elfs], &file[facts.elfs]);
		facts.elfs++;
	}
	while (facts.members < ARRAY_SIZE(c->member) && c->member[facts.members])
		facts.members++;
	rebuild_judge(&facts, &wheel_name, NULL, offer, NULL, out);
}

static void test_wheels_are_judged_as_the_loader_does(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0};
		CLEANUP(buf_release) struct buf said;
		buf_init(&said, 1000);
		judge_case(&cases[i], &v);
		buf_printf(&said, "%s: ", rebuild_state_name[v.state]);
		rebuild_verdict_print(&v, &said);
		if (strcmp(said.data, cases[i].expected) != 0)
			fail_msg("%s: %s", cases[i].name, said.data);
	}
}

static void test_without_facts_nothing_is_to_be_rebuilt(void **state UNUSED)
{
	CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0}, cut = {0};
	rebuild_judge(NULL, &wheel_name, "no one read it", offer, NULL, &v);
	assert_int_equal(v.state, REBUILD_UNKNOWN);
	assert_string_equal(v.reason[0].detail, "no one read it");
	const struct wheel_facts facts = {.is_cut = true, .cut = "more than allowed"};
	rebuild_judge(&facts, &wheel_name, NULL, offer, NULL, &cut);
	assert_int_equal(cut.state, REBUILD_UNKNOWN);
	assert_string_equal(cut.reason[0].detail, "more than allowed");
}

// The worst is the first, whatever the file has first.
// Exceeds LIMIT_REBUILD_REASONS.
static void test_reasons_are_listed_once_up_to_a_limit(void **state UNUSED)
{
	enum { MANY = 3 * LIMIT_REBUILD_REASONS };
	static char name[MANY][20];
	struct elf_symbol symbol[2 * MANY];
	const char *needed[] = {"libre2.so.9", "libre2.so.9", "libre2.so.11"};
	for (size_t i = 0; i < 2 * (size_t)MANY; i++) {
		snprintf(name[i / 2], sizeof(name[0]), "gone%zu", i / 2);
		symbol[i] = (struct elf_symbol)IMPORT_AT(name[i / 2], "OPENSSL_3.0.0", "libssl.so.3");
	}
	struct wheel_elf file = {
		.path = "x.so", .elf = {X86_64, .needed = {needed, 2}, .symbol = symbol, .symbols = 2 * MANY}};
	const struct wheel_facts facts = {.elf = &file, .elfs = 1};
	CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0};
	rebuild_judge(&facts, &wheel_name, NULL, offer, NULL, &v);
	assert_int_equal(v.state, REBUILD_SONAME);
	assert_int_equal(v.reasons, LIMIT_REBUILD_REASONS);
	assert_string_equal(v.reason[0].library, "libre2.so.9");
	assert_string_equal(v.reason[0].instead, "libre2.so.11");
	assert_string_equal(v.reason[1].detail, "gone0@OPENSSL_3.0.0");
	assert_string_equal(v.reason[2].detail, "gone1@OPENSSL_3.0.0");
}

// The files share their symbols, so that the test is small.
static void test_the_worst_reason_is_listed_however_many_there_are(void **state UNUSED)
{
	enum { LESSER = 2 * LIMIT_REBUILD_REASONS };
	static char path[LESSER][20];
	struct wheel_elf file[LESSER + 1] = {0};
	const char *needed[] = {"libre2.so.9"};
	for (size_t i = 0; i < LESSER; i++) {
		snprintf(path[i], sizeof(path[0]), "torn%zu.so", i);
		file[i] = (struct wheel_elf){.path = path[i], .damage = path[i]};
	}
	file[LESSER] = (struct wheel_elf){.path = "x.so", .elf = {X86_64, .needed = {needed, 1}}};
	const struct wheel_facts facts = {.elf = file, .elfs = LESSER + 1};
	CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0};
	rebuild_judge(&facts, &wheel_name, NULL, offer, NULL, &v);
	assert_int_equal(v.state, REBUILD_SONAME);
	assert_int_equal(v.reason[0].state, REBUILD_SONAME);
	assert_int_equal(v.reasons, LIMIT_REBUILD_REASONS);
}

// Exceeds LIMIT_REBUILD_WORK.
static void test_a_wheel_with_too_many_symbols_is_unknown(void **state UNUSED)
{
	enum { SYMBOLS = 1 << 16, FILES = LIMIT_REBUILD_WORK / SYMBOLS + 1 };
	static struct elf_symbol symbol[SYMBOLS];
	static struct wheel_elf file[FILES];
	const char *needed[] = {"libssl.so.3"};
	for (size_t i = 0; i < SYMBOLS; i++)
		symbol[i] = (struct elf_symbol)WEAK("w");
	for (size_t i = 0; i < FILES; i++)
		file[i] = (struct wheel_elf){
			.path = "x.so", .elf = {X86_64, .needed = {needed, 1}, .symbol = symbol, .symbols = SYMBOLS}};
	const struct wheel_facts facts = {.elf = file, .elfs = FILES};
	CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0};
	rebuild_judge(&facts, &wheel_name, NULL, offer, NULL, &v);
	assert_int_equal(v.state, REBUILD_UNKNOWN);
	assert_string_equal(v.reason[0].detail, "it has too many symbols to judge them all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wheels_are_judged_as_the_loader_does),
		cmocka_unit_test(test_without_facts_nothing_is_to_be_rebuilt),
		cmocka_unit_test(test_reasons_are_listed_once_up_to_a_limit),
		cmocka_unit_test(test_the_worst_reason_is_listed_however_many_there_are),
		cmocka_unit_test(test_a_wheel_with_too_many_symbols_is_unknown),
	};
	return cmocka_run_group_tests(tests, open_list, close_list);
}

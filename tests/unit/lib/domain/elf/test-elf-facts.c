// SPDX-License-Identifier: Apache-2.0
// The files are seeds of the fuzz target, which tests/e2e/elfmaker.py made. test-readelf.py compares real files.
#include "lib/domain/elf/elf-facts.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/domain/elf/elf-outline.h"

enum { FILE_MOST = 64 << 10 };

static void load_seed(const char *name, struct buf *out)
{
	const char *top = getenv("srcdir");
	CLEANUP(mem_free) char *path = xasprintf("%s/tests/fuzz/corpus/elf/%s", top ? top : ".", name);
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s", path);
	buf_init(out, FILE_MOST);
	ssize_t len = read(fd, buf_reserve(out, FILE_MOST), FILE_MOST);
	assert_true(len > 0);
	out->len = (size_t)len;
}

static void read_seed(const char *name, struct elf_facts *out)
{
	CLEANUP(buf_release) struct buf bytes;
	struct err e = ERR_INIT;
	load_seed(name, &bytes);
	if (elf_facts_read(buf_view(&bytes), out, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
}

static const struct elf_symbol *find_symbol(const struct elf_facts *f, const char *name)
{
	for (size_t i = 0; i < f->symbols; i++)
		if (strcmp(f->symbol[i].name, name) == 0)
			return &f->symbol[i];
	fail_msg("no %s", name);
	return NULL;
}

static void check_library(const struct elf_facts *f)
{
	assert_true(f->is_shared && f->is_dynamic && !f->is_relocatable && !f->is_executable && !f->has_textrel);
	assert_string_equal(f->soname, "libx.so.1");
	assert_string_equal(f->runpath, "$ORIGIN/../x.libs");
	assert_null(f->rpath);
	assert_int_equal(f->needed.count, 2);
	assert_string_equal(f->needed.item[0], "libc.so.6");
	assert_int_equal(f->needed_versions, 3);
	assert_string_equal(f->needed_version[1].name, "GLIBC_2.17");
	assert_string_equal(f->needed_version[2].library, "libm.so.6");
	assert_int_equal(f->defined_versions, 2); // without the base, which is the file's own name
	assert_string_equal(f->defined_version[0].name, "X_1");
	assert_int_equal(f->symbols, 5);
	const struct elf_symbol *puts = find_symbol(f, "puts"), *start = find_symbol(f, "__gmon_start__"),
				*exported = find_symbol(f, "f"), *python = find_symbol(f, "PyList_New");
	assert_true(puts->is_imported && !puts->is_weak && puts->is_function);
	assert_string_equal(puts->version, "GLIBC_2.2.5");
	assert_string_equal(puts->library, "libc.so.6");
	assert_true(start->is_imported && start->is_weak && !start->version);
	assert_true(!exported->is_imported && !exported->library);
	assert_string_equal(exported->version, "X_2");
	assert_true(python->is_imported && !python->version && !python->library);
	assert_string_equal(f->build_id, "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff");
	assert_int_equal(f->toolchain.count, 2);
	assert_string_equal(f->toolchain.item[1], "rustc version 1.90.0");
	assert_true(f->has_stack_mark && !f->is_stack_executable);
}

static void test_libraries_of_three_machines(void **state UNUSED)
{
	static const struct {
		const char *name;
		unsigned machine;
		bool is_64, is_big_endian;
		uint32_t isa_needed, isa_used;
	} rows[] = {{"x86_64", EM_X86_64, true, false, 3, 15}, {"i686", EM_386, false, false, 0, 1},
		{"s390x", EM_S390, true, true, 0, 0}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(elf_facts_release) struct elf_facts f;
		read_seed(rows[i].name, &f);
		assert_int_equal(f.machine, rows[i].machine);
		assert_true(f.is_64 == rows[i].is_64 && f.is_big_endian == rows[i].is_big_endian);
		assert_int_equal(f.isa_needed, rows[i].isa_needed);
		assert_int_equal(f.isa_used, rows[i].isa_used);
		check_library(&f);
	}
}

static void test_marks(void **state UNUSED)
{
	CLEANUP(elf_facts_release) struct elf_facts odd, object, program, no_stack;
	read_seed("odd", &odd);
	assert_true(odd.has_textrel && odd.is_stack_executable);
	assert_string_equal(odd.rpath, "/opt/lib");
	read_seed("object", &object);
	assert_true(object.is_relocatable && !object.is_dynamic && !object.is_shared);
	read_seed("program", &program);
	assert_true(program.is_executable && program.is_dynamic);
	read_seed("no-stack", &no_stack);
	assert_false(no_stack.has_stack_mark);
}

// A file that ends anywhere is damaged or, behind all that facts come from, complete. Nothing is read behind its end.
static void test_a_file_that_ends_early(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes;
	load_seed("x86_64", &bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		CLEANUP(mem_free) char *copy = xmalloc(len + 1); // so that a sanitizer sees its end
		struct elf_facts f = {0};
		struct err e = ERR_INIT;
		memcpy(copy, bytes.data, len);
		if (elf_facts_read((struct str){copy, len}, &f, &e) == 0)
			elf_facts_release(&f);
		else
			assert_true(e.kind == ERR_INVALID && e.msg[0]);
	}
}

// Each byte of the header and the tables of segments is set to values at the limits.
static void test_a_file_with_other_bytes(void **state UNUSED)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	CLEANUP(buf_release) struct buf bytes;
	load_seed("x86_64", &bytes);
	for (size_t at = 4; at < 64 + 8 * 56; at++) {
		char was = bytes.data[at];
		for (size_t i = 0; i < sizeof(values); i++) {
			struct elf_facts f = {0};
			struct err e = ERR_INIT;
			bytes.data[at] = (char)values[i];
			if (elf_facts_read(buf_view(&bytes), &f, &e) == 0)
				elf_facts_release(&f);
			else
				assert_true((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		}
		bytes.data[at] = was;
	}
}

static void test_what_is_no_elf_file(void **state UNUSED)
{
	struct elf_facts f;
	struct err e = ERR_INIT;
	assert_true(elf_is_elf(STR("\177ELF")) && !elf_is_elf(STR("\177EL")) && !elf_is_elf(STR("MZ\0\0")));
	assert_int_equal(elf_facts_read(STR("\177ELF"), &f, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(elf_facts_read(STR("!<arch>\n and nothing that an archive has, but long enough"), &f, &e), -1);
}

// Parts that touch or overlap are one.
static void test_parts(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes;
	CLEANUP(elf_outline_release) struct elf_outline o = {0};
	struct err e = ERR_INIT;
	load_seed("x86_64", &bytes);
	assert_int_equal(elf_outline_tables(buf_view(&bytes), bytes.len, &o, &e), 0);
	assert_int_equal(o.count, 2); // the header with the segments, and the sections
	assert_int_equal(o.part[0].offset, 0);
	assert_int_equal(elf_outline_room(&o, 60), o.part[0].size - 60);
	assert_int_equal(elf_outline_contents(buf_view(&bytes), &o, &e), 0);
	for (size_t i = 1; i < o.count; i++)
		assert_true(o.part[i].offset > o.part[i - 1].offset + o.part[i - 1].size);
	assert_int_equal(elf_outline_room(&o, bytes.len), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries_of_three_machines),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_a_file_that_ends_early),
		cmocka_unit_test(test_a_file_with_other_bytes),
		cmocka_unit_test(test_what_is_no_elf_file),
		cmocka_unit_test(test_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

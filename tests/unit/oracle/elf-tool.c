// SPDX-License-Identifier: Apache-2.0
// Prints the facts of the ELF files that stdin names, one path a line, for tests in other languages: lines of a kind
// and columns, and an empty line behind each file. A file that cannot be read has one line: "damaged", the reason. Each
// file is also read by its parts alone, as a large one is; if that gives other facts, a line "parts" says so.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/elf/elf-outline.h"
#include "lib/os/byte-source.h"

enum { FACTS_MAX = 64 << 20 };

static void put_fact(struct buf *out, const char *kind, const char *value)
{
	if (value)
		buf_printf(out, "%s\t%s\n", kind, value);
}

static void put_symbol(struct buf *out, const struct elf_symbol *s)
{
	buf_printf(out, "symbol\t%s\t%s\t%s\t%s%s%s\n", s->name, s->version ? s->version : "",
		s->library && s->is_imported ? s->library : "", s->is_imported ? "imported" : "exported",
		s->is_weak ? " weak" : "", s->is_function ? " function" : "");
}

static void put_elf_facts(struct buf *out, const struct elf_facts *f)
{
	buf_printf(out, "header\t%u\t%d\t%d\t%d\t%d\t%d\n", f->machine, f->is_64, f->is_big_endian, f->is_shared,
		f->is_relocatable, f->is_dynamic);
	buf_printf(out, "marks\t%d\t%d\t%d\t%u\t%u\n", f->has_stack_mark, f->is_stack_executable, f->has_textrel,
		f->isa_needed, f->isa_used);
	put_fact(out, "soname", f->soname);
	put_fact(out, "rpath", f->rpath);
	put_fact(out, "runpath", f->runpath);
	put_fact(out, "build-id", f->build_id);
	for (size_t i = 0; i < f->needed.count; i++)
		put_fact(out, "needed", f->needed.item[i]);
	for (size_t i = 0; i < f->needed_versions; i++)
		buf_printf(out, "needs\t%s\t%s\t%d\n", f->needed_version[i].library, f->needed_version[i].name,
			f->needed_version[i].is_weak);
	for (size_t i = 0; i < f->defined_versions; i++)
		buf_printf(out, "defines\t%s\t%d\n", f->defined_version[i].name, f->defined_version[i].is_weak);
	for (size_t i = 0; i < f->symbols; i++)
		put_symbol(out, &f->symbol[i]);
	for (size_t i = 0; i < f->toolchain.count; i++)
		put_fact(out, "toolchain", f->toolchain.item[i]);
}

static int print_facts(struct str bytes, const struct elf_outline *parts, struct buf *out)
{
	size_t left = LIMIT_FACTS;
	struct err e = ERR_INIT;
	CLEANUP(elf_facts_release) struct elf_facts facts = {0};
	if (elf_facts_read_parts(bytes, parts, &left, &facts, &e) < 0) {
		buf_printf(out, "damaged\t%s\n", e.msg);
		return -1;
	}
	put_elf_facts(out, &facts);
	return 0;
}

static void compare_with_parts(struct str bytes, struct buf *out)
{
	struct err e = ERR_INIT;
	CLEANUP(elf_outline_release) struct elf_outline parts = {0};
	CLEANUP(buf_release) struct buf of_parts;
	buf_init(&of_parts, FACTS_MAX);
	if (elf_outline_tables(bytes, bytes.len, &parts, &e) < 0 || elf_outline_contents(bytes, &parts, &e) < 0)
		buf_printf(out, "parts\t%s\n", e.msg);
	else if (print_facts(bytes, &parts, &of_parts) < 0 || !str_eq(buf_view(&of_parts), buf_view(out)))
		buf_puts(out, "parts\tdiffer\n");
}

static int print_file(const char *path)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	struct byte_source source = byte_source_file(fd, (uint64_t)st.st_size);
	CLEANUP(mem_free) char *bytes = xmalloc((size_t)st.st_size + 1);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, FACTS_MAX);
	if (byte_source_read(&source, 0, bytes, (size_t)st.st_size, &e) < 0)
		return -1;
	struct str text = {bytes, (size_t)st.st_size};
	if (print_facts(text, NULL, &out) == 0)
		compare_with_parts(text, &out);
	fwrite(out.data, 1, out.len, stdout);
	putchar('\n');
	return out.failed ? -1 : 0;
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int result = 0;
	while (result == 0 && (len = getline(&line, &room, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		result = print_file(line);
	}
	free(line);
	return result == 0 && fflush(stdout) == 0 ? 0 : 1;
}

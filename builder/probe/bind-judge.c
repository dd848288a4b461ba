// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/bind-judge.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

// --- ELF files ---

struct mapped_file {
	void *bytes;
	size_t size;
};

static void unmap_file(struct mapped_file *m)
{
	if (m->bytes)
		munmap(m->bytes, m->size);
}

int bind_read_elf(const char *path, struct elf_facts *out, struct err *e)
{
	struct stat st;
	CLEANUP(unmap_file) struct mapped_file m = {0};
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", path);
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return err_set(e, ERR_INVALID, "%s is no ELF file", path);
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return err_errno(e, ERR_IO, "%s", path);
	m = (struct mapped_file){bytes, (size_t)st.st_size};
	const struct str text = {m.bytes, m.size};
	if (!elf_is_elf(text))
		return err_set(e, ERR_INVALID, "%s is no ELF file", path);
	return elf_facts_read(text, out, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

// --- libraries ---

static bool is_library_named(const char *path, const char *glob)
{
	struct err ignored = ERR_INIT;
	CLEANUP(elf_facts_release) struct elf_facts facts = {0};
	const char *slash = strrchr(path, '/');
	if (fnmatch(glob, slash ? slash + 1 : path, 0) == 0)
		return true;
	return bind_read_elf(path, &facts, &ignored) == 0 && facts.soname && fnmatch(glob, facts.soname, 0) == 0;
}

// A library that was looked at for an expectation: it is read once, however many symbols it has.
struct judged_library {
	const char *path; // borrowed
	bool is_right;
};

struct judged_libraries {
	struct judged_library *item;
	size_t count, room;
};

static void release_libraries(struct judged_libraries *l)
{
	free(l->item);
}

static bool is_right_library(struct judged_libraries *l, const char *path, const char *glob)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->item[i].path, path) == 0)
			return l->item[i].is_right;
	GROW(l->item, l->count, l->room);
	l->item[l->count++] = (struct judged_library){path, is_library_named(path, glob)};
	return l->item[l->count - 1].is_right;
}

// --- lines ---

static void add_bind_line(struct bind_lines *l, const struct bind_line *line)
{
	GROW(l->line, l->count, l->room);
	l->line[l->count++] = (struct bind_line){
		.result = line->result,
		.symbol = arena_copy(&l->text, str_from(line->symbol)),
		.target = line->target ? arena_copy(&l->text, str_from(line->target)) : NULL,
		.library = line->library,
	};
	l->errors += line->result != BIND_OK && line->result != BIND_NEEDED_OK;
}

void bind_judge_needed(const struct elf_facts *facts, const char *glob, struct bind_lines *out)
{
	for (size_t i = 0; i < facts->needed.count; i++)
		if (fnmatch(glob, facts->needed.item[i], 0) == 0) {
			add_bind_line(out, &(struct bind_line){BIND_NEEDED_OK, facts->needed.item[i], NULL, glob});
			return;
		}
	add_bind_line(out, &(struct bind_line){BIND_NEEDED_ABSENT, glob, NULL, glob});
}

void bind_judge_symbols(const struct strset *bound, const struct bind_expectation *expect, struct bind_lines *out)
{
	CLEANUP(release_libraries) struct judged_libraries libraries = {0};
	size_t before = out->count;
	for (size_t i = 0; i < bound->count; i++) {
		struct str target = str_from(bound->item[i]), name = str_cut(&target, '\n');
		CLEANUP(mem_free) char *symbol = xstrndup(name.ptr, name.len);
		if (fnmatch(expect->symbol, symbol, 0) != 0)
			continue;
		bool is_right = is_right_library(&libraries, target.ptr, expect->library);
		add_bind_line(out,
			&(struct bind_line){is_right ? BIND_OK : BIND_WRONG, symbol, target.ptr, expect->library});
	}
	if (out->count == before && strcmp(expect->symbol, "*") != 0)
		add_bind_line(out, &(struct bind_line){BIND_ABSENT, expect->symbol, NULL, expect->library});
}

void bind_lines_release(struct bind_lines *l)
{
	free(l->line);
	arena_release(&l->text);
	*l = (struct bind_lines){0};
}

// SPDX-License-Identifier: Apache-2.0
// Compares what a module needs and binds with what was expected. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/strset.h"
#include "lib/domain/elf/elf-facts.h"

struct bind_expectation {
	const char *symbol, *library; // globs; the library's is for its file name or its SONAME
};

enum bind_result {
	BIND_NEEDED_OK,
	BIND_NEEDED_ABSENT,
	BIND_OK,
	BIND_WRONG,  // the symbol is bound to another library
	BIND_ABSENT, // no symbol of this name is bound
	BIND_RESULT_COUNT,
};

// One line about a run. Its strings are in `text` of the lines, except `library`, which is the expectation's.
struct bind_line {
	enum bind_result result;
	const char *symbol;  // of needed libraries: the SONAME; what was expected if there is none
	const char *target;  // the path of the library; NULL: none
	const char *library; // what was expected
};

struct bind_lines {
	struct bind_line *line; // owned
	size_t count, room;
	unsigned errors;
	struct arena text;
};

// Reads an ELF file. ERR_NOT_FOUND, ERR_INVALID, ERR_LIMIT, ERR_IO. The caller releases *out if this returns 0.
int bind_read_elf(const char *path, struct elf_facts *out, struct err *e) MUST_CHECK;
// Adds a line for the glob, which must match one of the needed libraries.
void bind_judge_needed(const struct elf_facts *facts, const char *glob, struct bind_lines *out);
// Adds a line for each bound symbol that the expectation is about; none is an error, unless it is about "*". bound:
// "SYMBOL\nTARGET", sorted.
void bind_judge_symbols(const struct strset *bound, const struct bind_expectation *expect, struct bind_lines *out);
void bind_lines_release(struct bind_lines *l);

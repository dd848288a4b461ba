// SPDX-License-Identifier: Apache-2.0
// Which parts of an ELF file the facts come from, so that a large file need not be in memory as a whole: first the
// tables of segments and sections, then what they name. Pure functions; any thread.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct elf_part {
	uint64_t offset, size;
};

// Parts of a file; they may overlap. Owns its array; all zero is empty.
struct elf_outline {
	struct elf_part *part;
	size_t count, room;
};

enum {
	ELF_HEAD = 64,              // bytes of the header
	ELF_COMMENT_MAX = 64 << 10, // a larger .comment is not read
	ELF_NOTES_MAX = 1 << 20,    // bytes of all notes that are read,
	ELF_NOTE_SEGMENTS = 64,     // and number of their segments: libelf searches what it read before for each
};

void elf_outline_release(struct elf_outline *o); // for CLEANUP
// Compares the number of sections with its limit. libelf makes a record of each when it opens the file. ERR_INVALID,
// ERR_LIMIT.
int elf_outline_check(struct str bytes, struct err *e) MUST_CHECK;
// Adds the header and the tables. head: at least the first ELF_HEAD bytes of the file, size: of the file. ERR_INVALID,
// ERR_LIMIT.
int elf_outline_tables(struct str head, uint64_t size, struct elf_outline *o, struct err *e) MUST_CHECK;
// Adds the parts that the tables name. bytes: as long as the file, with the header and the tables at their place.
// ERR_INVALID, ERR_LIMIT.
int elf_outline_contents(struct str bytes, struct elf_outline *o, struct err *e) MUST_CHECK;
// How many bytes from the offset on are in one part; 0: none.
uint64_t elf_outline_room(const struct elf_outline *o, uint64_t offset);

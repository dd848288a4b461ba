// SPDX-License-Identifier: Apache-2.0
// What the parts of one reading of an ELF file share: elf-facts-read reads its header, segments, notes and comments,
// elf-dynamic what its dynamic segment leads to. One thread at a time.
#pragma once

#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/elf/elf-outline.h"

struct Elf; // libelf's

struct elf_reading {
	struct Elf *elf;
	struct str bytes;
	const struct elf_outline *parts; // the only parts that bytes has; NULL: it has all
	struct elf_facts *out;
	size_t segments;
	uint64_t dynamic_offset, dynamic_size; // of the dynamic segment in the file,
	uint64_t dynamic_address;              // and in memory
	size_t note_left;                      // bytes of notes that may still be read,
	unsigned notes;                        // and number of their segments that were
	size_t *left;                          // bytes of facts that may still be made
};

// How many bytes from the offset on may be read; 0: none.
uint64_t elf_reading_room(const struct elf_reading *r, uint64_t offset);
// ERR_INVALID: the file is damaged; what: which part. Returns -1.
int elf_damaged(struct err *e, const char *what);
// Counts bytes of facts, or as much work. ERR_LIMIT: more than are left, of which none are left then.
int elf_reading_spend(struct elf_reading *r, size_t size, struct err *e) MUST_CHECK;
// Adds a string, which is the facts', to a list. ERR_LIMIT.
int elf_list_add(struct elf_list *list, const char *text, struct err *e) MUST_CHECK;

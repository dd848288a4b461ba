// SPDX-License-Identifier: Apache-2.0
// What the parts of one reading of an ELF file share: elf-facts reads its header, segments, notes and comments,
// elf-dynamic what its dynamic segment leads to. One thread at a time.
#pragma once

#include "lib/domain/elf/elf-facts.h"

struct Elf; // libelf's

struct elf_reading {
	struct Elf *elf;
	struct str bytes;
	struct elf_facts *out;
	size_t segments;
	uint64_t dynamic_offset, dynamic_size; // of the dynamic segment in the file
	size_t note_left;                      // bytes of notes that may still be read
};

// Reads the dynamic segment, and the versions and symbols that it leads to, into r->out. Errors as elf_facts_read; the
// caller releases r->out.
int elf_dynamic_read(struct elf_reading *r, struct err *e) MUST_CHECK;
// ERR_INVALID: the file is damaged; what: which part. Returns -1.
int elf_damaged(struct err *e, const char *what);
// Adds a string, which is the facts', to a list. ERR_LIMIT.
int elf_list_add(struct elf_list *list, const char *text, struct err *e) MUST_CHECK;

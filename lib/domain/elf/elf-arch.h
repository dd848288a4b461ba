// SPDX-License-Identifier: Apache-2.0
// The architecture of an ELF file, as platform tags spell it (PEP 600). Pure functions; any thread.
#pragma once

#include "lib/domain/elf/elf-facts.h"

// The kind of machine that an ELF file is for.
struct elf_arch {
	const char *name; // in platform tags: "x86_64"
	unsigned machine; // EM_X86_64
	bool is_64, is_big_endian;
};
// By the name in a platform tag; "armv6l" is the same machine as "armv7l". NULL: the table does not have it.
const struct elf_arch *elf_arch_find(struct str name);
bool elf_arch_fits(const struct elf_arch *a, const struct elf_facts *f);
// NULL: the table does not have it. All 32-bit ARM is armv7l, all 32-bit x86 i686.
const struct elf_arch *elf_arch_of(const struct elf_facts *f);
// The name of the same.
const char *elf_arch(const struct elf_facts *f);
// Whether it is the code of a processor that Python runs on, and not of a graphics card or of the kernel's BPF.
bool elf_arch_is_host(const struct elf_facts *f);
// The name of the file's machine, for people. A number if the table does not have it: *room holds it.
const char *elf_arch_name(const struct elf_facts *f, char room[32]);

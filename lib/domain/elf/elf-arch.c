// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-arch.h"

#include <stdio.h>

// The machines of the ELF header (System V gABI). Of several names for one, the first is the usual one.
static const struct elf_arch arches[] = {
	{"x86_64", 62, true, false},
	{"i686", 3, false, false},
	{"aarch64", 183, true, false},
	{"armv7l", 40, false, false},
	{"ppc64le", 21, true, false},
	{"ppc64", 21, true, true},
	{"s390x", 22, true, true},
	{"riscv64", 243, true, false},
	{"loongarch64", 258, true, false},
	// Not in the tables of manylinux:
	{"armv6l", 40, false, false},
	{"i386", 3, false, false},
	{"i586", 3, false, false},
	{"mips64", 8, true, true},
	{"mips64el", 8, true, false},
	{"mips64le", 8, true, false},
	{"riscv32", 243, false, false},
	{"sparc64", 43, true, true},
	{"alpha", 0x9026, true, false},
};

bool elf_arch_fits(const struct elf_arch *a, const struct elf_facts *f)
{
	return a->machine == f->machine && a->is_64 == f->is_64 && a->is_big_endian == f->is_big_endian;
}

const struct elf_arch *elf_arch_of(const struct elf_facts *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (elf_arch_fits(&arches[i], f))
			return &arches[i];
	return NULL;
}

bool elf_arch_is_host(const struct elf_facts *f)
{
	static const unsigned others[] = {0, 190, 224, 247}; // none, CUDA, AMD GPU, BPF
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (f->machine == others[i])
			return false;
	return true;
}

const char *elf_arch(const struct elf_facts *f)
{
	const struct elf_arch *a = elf_arch_of(f);
	return a ? a->name : NULL;
}

const char *elf_arch_name(const struct elf_facts *f, char room[32])
{
	const struct elf_arch *a = elf_arch_of(f);
	if (a)
		return a->name;
	snprintf(room, 32, "ELF machine %u (%d bit)", f->machine, f->is_64 ? 64 : 32);
	return room;
}

const struct elf_arch *elf_arch_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++)
		if (str_eq(name, str_from(arches[i].name)))
			return &arches[i];
	return NULL;
}

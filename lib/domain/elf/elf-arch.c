// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-arch.h"

#include <stdbool.h>

// The machines of the ELF header (System V gABI).
static const struct machine_row {
	unsigned machine;
	bool is_64, is_big_endian;
	const char *arch;
} rows[] = {
	{3, false, false, "i686"},
	{21, true, true, "ppc64"},
	{21, true, false, "ppc64le"},
	{22, true, true, "s390x"},
	{40, false, false, "armv7l"},
	{62, true, false, "x86_64"},
	{183, true, false, "aarch64"},
	{243, true, false, "riscv64"},
	{258, true, false, "loongarch64"},
};

const char *elf_arch(const struct elf_facts *facts)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].machine == facts->machine && rows[i].is_64 == facts->is_64 &&
			rows[i].is_big_endian == facts->is_big_endian)
			return rows[i].arch;
	return NULL;
}

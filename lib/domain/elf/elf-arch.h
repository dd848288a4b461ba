// SPDX-License-Identifier: Apache-2.0
// The architecture of an ELF file, as platform tags spell it (PEP 600). Pure functions; any thread.
#pragma once

#include "lib/domain/elf/elf-facts.h"

// "x86_64", "aarch64", …; all 32-bit ARM is "armv7l". NULL: none that platform tags have.
const char *elf_arch(const struct elf_facts *facts);

// SPDX-License-Identifier: Apache-2.0
// Reads what the dynamic segment of an ELF file leads to: names, versions and symbols. One thread at a time.
#pragma once

#include "lib/domain/elf/elf-reading.h"

// Reads into r->out. Errors as elf_facts_read; the caller releases r->out.
int elf_dynamic_read(struct elf_reading *r, struct err *e) MUST_CHECK;

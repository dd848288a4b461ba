// SPDX-License-Identifier: Apache-2.0
// The parts of a large ELF file in a wheel that its facts come from: the member is unpacked twice, piece by piece, so
// that a library of gigabytes takes some megabytes of memory. Any thread; the caller owns the struct.
#pragma once

#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/elf/elf-outline.h"

struct large_elf {
	struct str bytes; // as long as the member; zero where there is no part
	struct elf_outline parts;
};

// sha256, unless NULL, becomes that of the member. ERR_INVALID: it is damaged; ERR_LIMIT: its parts have more than
// LIMIT_ELF_WHOLE bytes; ERR_IO. The caller releases *out, whatever this returns.
int large_elf_load(const struct byte_source *s, const struct zipmember *m, uint8_t *sha256, struct large_elf *out,
	struct err *e) MUST_CHECK;
void large_elf_release(struct large_elf *l); // for CLEANUP

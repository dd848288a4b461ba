// SPDX-License-Identifier: Apache-2.0
// What the platform tags in a wheel's name promise (PEP 425, 600, 656): architectures, and for each the oldest glibc or
// musl that the wheel runs on. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/elf/manylinux.h"
#include "lib/domain/text/filename.h"

enum { PROMISE_TAG_SIZE = 96 };

// One architecture of the name. Several tags of a kind: the lowest counts.
struct promise_arch {
	const struct elf_arch *arch;
	bool has_linux;                                               // linux_ARCH, which promises nothing of libraries
	unsigned glibc;                                               // 17 of manylinux_2_17, manylinux2014; 0: none
	unsigned musl;                                                // 101 of musllinux_1_1; 0: none
	char glibc_tag[PROMISE_TAG_SIZE], musl_tag[PROMISE_TAG_SIZE]; // as the name has them
	const struct manylinux *row; // of the greatest glibc that is not above; NULL: none
	bool is_above_table;         // the tag is newer than all rows
};

enum { PROMISE_ARCHES = 16 };

struct promise {
	struct promise_arch arch[PROMISE_ARCHES];
	size_t count;
	bool is_any;                  // "any" is one of the tags
	bool is_elsewhere;            // all tags are for systems without ELF: macOS, Windows, iOS, WebAssembly
	bool is_not_judged;           // a tag of another system or architecture
	char first[PROMISE_TAG_SIZE]; // the first tag
};

void promise_init(struct promise *p, const struct filename *wheel);
// The architecture that the ELF file fits. NULL: none of the name.
const struct promise_arch *promise_find(const struct promise *p, const struct elf_facts *f);
// Whether the tags of an architecture allow a symbol version of the system's libraries, or a library of the system.
// True where nothing is promised: linux_ARCH alone.
bool promise_allows_version(const struct promise_arch *a, struct str version);
bool promise_allows_library(const struct promise_arch *a, struct str soname);
// Whether the name promises that only libraries of a list are needed: manylinux or musllinux.
bool promise_is_strict(const struct promise_arch *a);
// The tag that sentences name: glibc's, or musl's.
const char *promise_tag(const struct promise_arch *a);

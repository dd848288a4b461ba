// SPDX-License-Identifier: Apache-2.0
// What the parts of one reading of a wheel's facts share (wheel-facts.h). One thread at a time.
#pragma once

#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/archive/zipread.h"
#include "lib/domain/elf/elf-outline.h"
#include "lib/facts/wheel-facts.h"
#include "lib/format/compress.h"

struct wheel_reading {
	struct wheel_facts *out;
	struct zipdirectory zip;
	struct zipload *load; // borrowed
	size_t component_room, odd_room, odd_count[WHEEL_ODDITY_COUNT];
	struct str folder;      // "<name>-<version>.dist-info"
	uint64_t unpacked_left; // bytes that may still be unpacked
};

void wheel_reading_release(struct wheel_reading *r); // for CLEANUP
// Notes that the facts are not complete, with the first reason.
void wheel_reading_cut(struct wheel_reading *r, const char *why);
// How many bytes of a wheel of this size may be unpacked. More of a small file would be a bomb.
uint64_t wheel_reading_most(uint64_t size);
// Counts the bytes that will be unpacked. ERR_LIMIT: they are too many.
int wheel_reading_spend(struct wheel_reading *r, uint64_t size, struct err *e) MUST_CHECK;
// Loads a member of at most `most` bytes; *bytes is valid until the next call. ERR_LIMIT and ERR_INVALID concern the
// member; ERR_IO the wheel.
int wheel_reading_load(struct wheel_reading *r, const struct zipmember *m, uint64_t most, struct str *bytes,
	struct err *e) MUST_CHECK;

// What a thread reuses for the facts of many wheels (wheel-facts.h).
struct wheel_reader {
	struct zipload load;
	struct compress *pack;
};

// The parts of a large ELF file in a wheel that its facts come from: the member is unpacked twice, piece by piece, so
// that a library of gigabytes takes some megabytes of memory. Any thread; the caller owns the struct.

struct large_elf {
	struct str bytes; // as long as the member; zero where there is no part
	struct elf_outline parts;
};

// sha256, unless NULL, becomes that of the member. ERR_INVALID: it is damaged; ERR_LIMIT: its parts have more than
// LIMIT_ELF_WHOLE bytes; ERR_IO. The caller releases *out, whatever this returns.
int large_elf_load(const struct byte_source *s, const struct zipmember *m, uint8_t *sha256, struct large_elf *out,
	struct err *e) MUST_CHECK;
void large_elf_release(struct large_elf *l); // for CLEANUP

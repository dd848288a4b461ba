// SPDX-License-Identifier: Apache-2.0
// The SHA-256 of each unpacked member of a ZIP file, and one digest of all of them. Any thread.
#pragma once

#include <stdint.h>

#include "lib/domain/archive/zipdirectory.h"
#include "lib/format/digest.h"

struct member_hashes {
	uint8_t (*sha256)[SHA256_SIZE]; // one per member, in the order of zip->members; owned
};

// Unpacks and hashes every member except folders. ERR_INVALID if a member is damaged, ERR_LIMIT if one is too large,
// ERR_IO if the source cannot be read; then the caller releases nothing.
int member_hashes_read(const struct byte_source *s, const struct zipdirectory *zip, struct member_hashes *out,
	struct err *e) MUST_CHECK;
void member_hashes_release(struct member_hashes *c);

// A line "<sha256><mark> <name>\n" of a digest.
struct member_line {
	const uint8_t *sha256;
	const char *mark;
	struct str name;
};

// Sorts the lines; SHA-256 of them.
void member_lines_digest(struct member_line *line, size_t count, uint8_t out[SHA256_SIZE]);
// SHA-256 of the sorted lines "<sha256 of member> <name>\n", without folders. Archives that differ only in time stamps,
// order, modes and compression have the same digest.
void member_hashes_digest(const struct member_hashes *c, const struct zipdirectory *zip, uint8_t out[SHA256_SIZE]);

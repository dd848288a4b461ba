// SPDX-License-Identifier: Apache-2.0
// What every member of a ZIP file unpacks to. Thread-safe.
#pragma once

#include <stdint.h>

#include "lib/domain/archive/zipdirectory.h"
#include "lib/format/digest.h"

struct member_hashes {
	uint8_t (*sha256)[SHA256_SIZE]; // one a member, as zip->members are ordered; owned
};

// Unpacks and hashes every member but folders. ERR_INVALID where one is damaged; then nothing is to
// release.
int member_hashes_read(const struct byte_source *s, const struct zipdirectory *zip, struct member_hashes *out,
	struct err *e) MUST_CHECK;
void member_hashes_release(struct member_hashes *c);
// SHA-256 of the sorted lines "<sha256 of member> <name>\n", folders left out: equal for archives
// that differ in time stamps, order and packing only.
void member_hashes_digest(const struct member_hashes *c, const struct zipdirectory *zip, uint8_t out[SHA256_SIZE]);

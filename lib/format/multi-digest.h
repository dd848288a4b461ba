// SPDX-License-Identifier: Apache-2.0
// The digests that an upload may name, counted side by side as its bytes come: SHA-256, BLAKE2b-256
// (RFC 7693, by libsodium) and MD5.
#pragma once

#include "lib/format/digest.h"

enum hash_kind { HASH_SHA256, HASH_BLAKE2B_256, HASH_MD5, HASH_COUNT };

enum { HASH_MOST = 32 }; // bytes of the longest

struct hash_value {
	size_t size; // bytes; 0: it was not counted, since the library has no such digest (FIPS mode)
	uint8_t bytes[HASH_MOST];
};

// One thread at a time.
struct hashes;

struct hashes *hashes_new(void);
void hashes_free(struct hashes *h); // NULL is fine
void hashes_add(struct hashes *h, struct str bytes);
// Once.
void hashes_end(struct hashes *h, struct hash_value out[HASH_COUNT]);

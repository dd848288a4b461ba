// SPDX-License-Identifier: Apache-2.0
// The digests that an upload may name, counted side by side as its bytes come: SHA-256, BLAKE2b-256
// (RFC 7693, by libsodium) and MD5.
#pragma once

#include "lib/format/digest.h"

enum digest_kind { DIGEST_SHA256, DIGEST_BLAKE2B_256, DIGEST_MD5, DIGEST_COUNT };

enum { DIGEST_MOST = 32 }; // bytes of the longest

struct digest_value {
	size_t size; // bytes; 0: it was not counted, since the library has no such digest (FIPS mode)
	uint8_t bytes[DIGEST_MOST];
};

// One thread at a time.
struct multi_digest;

struct multi_digest *multi_digest_new(void);
void multi_digest_free(struct multi_digest *h); // NULL is fine
void multi_digest_add(struct multi_digest *h, struct str bytes);
// Once.
void multi_digest_end(struct multi_digest *h, struct digest_value out[DIGEST_COUNT]);

// SPDX-License-Identifier: Apache-2.0
// The digests of an upload that are checked: SHA-256 and MD5, both computed as the bytes arrive. Every client that
// sends a third one, BLAKE2b-256, sends SHA-256 as well, which is as strong; so the third is not worth a library
// (OpenSSL has it with 32 bytes from 3.2 on, Debian 12 has 3.0).
#pragma once

#include "lib/format/digest.h"

enum digest_kind { DIGEST_SHA256, DIGEST_MD5, DIGEST_COUNT };

enum { DIGEST_MOST = 32 }; // bytes of the longest

struct digest_value {
	size_t size; // bytes; 0: it is not computed, because the library has no such digest (FIPS mode)
	uint8_t bytes[DIGEST_MOST];
};

// For one thread at a time. Memory that runs out ends the process.
struct multi_digest;

struct multi_digest *multi_digest_new(void);    // the caller frees it
void multi_digest_free(struct multi_digest *h); // NULL is fine
void multi_digest_add(struct multi_digest *h, struct str bytes);
// Writes the digests of all bytes; once.
void multi_digest_end(struct multi_digest *h, struct digest_value out[DIGEST_COUNT]);

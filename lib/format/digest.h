// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and MD5 (RFC 1321) with libcrypto; hexadecimal text.
// Memory that runs out ends the process. Any thread; a struct digest is for one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

enum { SHA256_SIZE = 32, SHA256_HEX = 64, MD5_SIZE = 16 };

// The state of a digest. After digest_end, digest_begin starts another one.
struct digest;

struct digest *digest_new(void); // of SHA-256
void digest_free(struct digest *d);     // NULL is fine
void digest_cleanup(struct digest **d); // for CLEANUP
void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t len);
void digest_end(struct digest *d, uint8_t *out); // writes SHA256_SIZE or MD5_SIZE bytes
void digest_sha256(struct str bytes, uint8_t out[SHA256_SIZE]);
void digest_hmac(struct str key, struct str bytes, uint8_t out[SHA256_SIZE]); // HMAC-SHA-256 (RFC 2104)

// Compares in constant time.
bool digest_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]);

// Writes 2 * len lower-case digits to out, without NUL.
void hex_encode(const uint8_t *bytes, size_t len, char *out);
// Writes len bytes. False unless hex has exactly 2 * len digits, in lower or upper case.
bool hex_decode(struct str hex, uint8_t *out, size_t len) __attribute__((warn_unused_result));

// --- several digests at once ---
// The digests of an upload that are checked: SHA-256 and MD5, both computed as the bytes arrive. Every client that
// sends a third one, BLAKE2b-256, sends SHA-256 as well, which is as strong; so the third is not worth a library
// (OpenSSL has it with 32 bytes from 3.2 on, Debian 12 has 3.0).

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

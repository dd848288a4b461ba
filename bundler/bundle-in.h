// SPDX-License-Identifier: Apache-2.0
// Reads a bundle (bundle.h), as often as the caller likes: a regular file, of which some MB and the manifest are in
// memory. One thread at a time. Errors are ERR_IO, and ERR_INVALID or ERR_LIMIT for whatever is not as bundle.h says.
#pragma once

#include "bundler/bundle.h"

struct bundle_in;

// ERR_NOT_FOUND; ERR_USAGE: it is no regular file; ERR_INVALID: it has no trailer. NULL on an error.
struct bundle_in *bundle_in_new(const char *path, struct err *e) MUST_CHECK;
void bundle_in_cleanup(struct bundle_in **in); // closes it; for CLEANUP; NULL is fine
bool bundle_in_is_signed(const struct bundle_in *in);
// 1: the SHA-256 of its trailer is signed by the key (PEM); 0: it is not. Errors of signature_check(). A reading says
// whether the bytes have this SHA-256.
int bundle_in_check_key(const struct bundle_in *in, struct str key, struct err *e) MUST_CHECK;

// What a reading calls, in this order; a member may be NULL. Rows are borrowed until done() returns.
struct bundle_visit {
	int (*head)(void *ctx, const struct bundle_head *h, struct err *e);
	int (*row)(void *ctx, const struct bundle_row *r, struct err *e);
	// Bytes of the row, or of a piece of it. Neither is called for what is omitted or empty.
	int (*bytes)(void *ctx, const struct bundle_row *r, const struct bundle_piece *piece, struct str bytes,
		struct err *e);
	// The bytes that were passed have the SHA-256 that the row says, and so have those of its pieces.
	int (*done)(void *ctx, const struct bundle_row *r, struct err *e);
	void *ctx;
};
// Bytes of the files in it, by the last manifest that was read.
uint64_t bundle_in_bytes(const struct bundle_in *in);
// Reads all of it. Until it has returned 0 the SHA-256 of the trailer is not confirmed, and the caller does nothing
// that lasts; later readings give the same rows, or an error.
int bundle_in_read(struct bundle_in *in, const struct bundle_visit *visit, struct err *e) MUST_CHECK;

// Reads the manifest alone: of a bundle, whose other bytes are not read, or of a file that is one. *sha256: its own.
int bundle_in_manifest(const char *path, const struct bundle_visit *visit, uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;

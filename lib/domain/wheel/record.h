// SPDX-License-Identifier: Apache-2.0
// RECORD, the list of a wheel's files (binary distribution format): CSV as Python's csv module
// reads it by default. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

struct record_row {
	size_t line;           // where it begins, from 1
	struct str path;       // as it is spelled
	struct str hash, size; // may be empty
};

// Borrowed for the call. Returns 0, or -1 with *e set: the reading ends.
typedef int record_fn(void *ctx, const struct record_row *row, struct err *e);

// Calls fn for each row. Empty lines are skipped; a row of other than three fields, or an open
// quote, is ERR_INVALID.
int record_foreach(struct str text, record_fn *fn, void *ctx, struct err *e) MUST_CHECK;

enum record_hash {
	RECORD_HASH_NONE, // empty
	RECORD_HASH_SHA256,
	RECORD_HASH_BETTER, // sha384, sha512: well-formed, not decoded
	RECORD_HASH_BAD,    // malformed, or md5, sha1 or unknown, which the format forbids
};

// Reads "sha256=<URL-safe base64 without padding>"; out is filled for RECORD_HASH_SHA256 alone.
enum record_hash record_hash_decode(struct str hash, uint8_t out[SHA256_SIZE]);

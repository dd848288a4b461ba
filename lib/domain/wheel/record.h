// SPDX-License-Identifier: Apache-2.0
// Parses RECORD, the list of a wheel's files (binary distribution format): CSV, as Python's csv module reads it by
// default. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

struct record_row {
	size_t line;           // line number where the row begins, from 1
	struct str path;       // as spelled
	struct str hash, size; // may be empty
};

// Called for one row, which is borrowed for the call. Returns 0, or -1 with *e set, which ends the reading.
typedef int record_fn(void *ctx, const struct record_row *row, struct err *e);

// Calls fn for each row and skips empty lines. ERR_INVALID for a row without exactly three fields and for an open
// quote.
int record_foreach(struct str text, record_fn *fn, void *ctx, struct err *e) MUST_CHECK;

enum record_hash {
	RECORD_HASH_NONE, // empty
	RECORD_HASH_SHA256,
	RECORD_HASH_BETTER, // sha384, sha512: well-formed, but not decoded
	RECORD_HASH_BAD,    // malformed, or an algorithm that the format forbids (md5, sha1) or does not know
};

// Parses "sha256=<URL-safe base64 without padding>". Only RECORD_HASH_SHA256 fills out.
enum record_hash record_hash_decode(struct str hash, uint8_t out[SHA256_SIZE]);

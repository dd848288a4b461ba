// SPDX-License-Identifier: Apache-2.0
// What is inside the wheels of a store (lib/facts/wheel-facts.h): from the catalog by SHA-256, else read from the file.
// One thread at a time for each connection; nothing is written. Errors and callbacks as in catalog.h.
#pragma once

#include <stdbool.h>

#include "lib/facts/wheel-facts.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

// A listed wheel. All is borrowed.
struct stored_wheel {
	const struct platform *platform;
	const char *project; // normalised
	const char *filename;
	const char *path; // below the platform
	uint64_t size;
	const uint8_t *sha256;
};

struct facts_reader_query {
	const char *const *platform; // globs, as of --platform
	size_t platforms;            // 0: all
	const char *project;         // normalised; NULL: all
	const char *filename;        // NULL: all
	const char *view;            // with a membership: only the wheels of its newest generation; NULL: all
	bool only_catalog;           // files are not read: what the catalog lacks is unknown
};

// Called with one wheel after the other; only the facts of one are in memory. facts: borrowed; NULL: unknown, and why
// says why.
typedef int facts_reader_fn(void *ctx, const struct stored_wheel *wheel, const struct wheel_facts *facts,
	const char *why, struct err *e);

// The listed wheels by platform (in the order of the store), project and file name. The store is registered, or
// store_find() was called. A file that cannot be read is no error: its facts are unknown.
int facts_reader_each(const struct store *s, struct catalog *c, const struct facts_reader_query *q, facts_reader_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;

// The facts of the bytes with this SHA-256, from the catalog alone. ERR_NOT_FOUND: it has none, and e says why. The
// caller releases *out if this returns 0.
int facts_reader_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct wheel_facts *out,
	struct err *e) MUST_CHECK;
// The same, where more than `most` bytes before compression count as none.
int facts_reader_get_most(struct catalog *c, const uint8_t sha256[SHA256_SIZE], size_t most, struct wheel_facts *out,
	struct err *e) MUST_CHECK;

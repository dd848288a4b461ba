// SPDX-License-Identifier: Apache-2.0
// The contents of X.whl.pruned: why, when and by whom a file was removed from the pages, the hash of its bytes, and the
// file of upstream that replaces it. One line of JSON. `wheelcache remove` writes fewer keys; text that is not JSON is
// the reason. The catalog has the same text (lib/state/catalog/catalog-mark.h). Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// The verdict of a platform that was retired (`wheelcache platform retire`).
#define TOMBSTONE_RETIRED "retired"
// The verdict of a version that a view no longer keeps (`wheelcache retain`).
#define TOMBSTONE_EXPIRED "expired"

// The file of upstream that justified the removal; the first one, if each environment has another.
struct tombstone_upstream {
	const char *filename;    // NULL: none
	const char *url, *index; // NULL: unknown
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	int64_t uploaded;  // seconds since 1970; 0: unknown
	bool is_identical; // it has the same bytes
};

// Strings are borrowed, after tombstone_read from text, which tombstone_release frees.
struct tombstone {
	const char *reason;                       // one line
	int64_t when;                             // seconds since 1970; 0: unknown
	const char *by, *verdict, *run, *project; // NULL: unknown. Only a prune and a retirement have a run
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	int64_t size;                // -1: unknown
	const char *requires_python; // NULL: none
	struct tombstone_upstream upstream;
	struct arena text; // of tombstone_read
};

// Appends the text to out. ERR_LIMIT: it is longer than a mark may be.
int tombstone_write(const struct tombstone *t, struct buf *out, struct err *e) MUST_CHECK;
// Accepts any text. To be released.
void tombstone_read(struct str text, struct tombstone *out);
void tombstone_release(struct tombstone *t);
// Whether a prune or `wheelcache retain` wrote it: a rule decided, and may decide otherwise later. The rest are
// decisions of an operator: `wheelcache remove`, a retired platform, a note by hand.
bool tombstone_is_by_us(const struct tombstone *t);

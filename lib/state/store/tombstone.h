// SPDX-License-Identifier: Apache-2.0
// What X.whl.pruned says: why a file was taken off the pages, when and by whom, what its bytes were, and which file
// of upstream's is there instead. One line of JSON; `wheelcache remove` writes fewer keys, and text that is no JSON
// is the reason. The catalog keeps the same text (lib/state/catalog/catalog-mark.h).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// The verdict of a platform that was retired (`wheelcache platform retire`).
#define TOMBSTONE_RETIRED "retired"

// Upstream's file that justified it: the first one, where each environment has another.
struct tombstone_upstream {
	const char *filename;    // NULL: there is none
	const char *url, *index; // NULL: not known
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	int64_t uploaded;  // seconds since 1970; 0: not known
	bool is_identical; // its bytes are the same as ours were
};

// Strings are borrowed from whoever fills it in, or from what tombstone_read keeps.
struct tombstone {
	const char *reason;                       // one line
	int64_t when;                             // seconds since 1970; 0: not known
	const char *by, *verdict, *run, *project; // NULL: not said. Only a prune and a retirement have a run
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	int64_t size;                // -1: not known
	const char *requires_python; // NULL: none
	struct tombstone_upstream upstream;
	struct jsondoc *document; // of tombstone_read
	char *line;
};

// Adds the text to out; ERR_LIMIT where it is longer than a mark may be.
int tombstone_write(const struct tombstone *t, struct buf *out, struct err *e) MUST_CHECK;
// Any text is one.
void tombstone_read(struct str text, struct tombstone *out);
void tombstone_release(struct tombstone *t);

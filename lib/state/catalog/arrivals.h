// SPDX-License-Identifier: Apache-2.0
// When files and projects came, where nothing else says so: it decides whose a name is, and how long views keep a version.
// The table `came` has it, which triggers fill, but goes with the catalog. So a transaction that adds to it writes a record
// before it ends: FOLDER/0000000001 and so on (lib/place/record.h), {"arrivals": [{"platform", "name", "sha256", "arrived"}]};
// without a hash the name is a project's. A new catalog reads them all. Of records that say different times the last counts.
// After a thousand records all is written again, and the older ones go. One thread at a time for each connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

struct catalog;

struct arrival {
	const char *platform, *name;
	bool is_file; // it has a hash
	uint8_t sha256[SHA256_SIZE];
	int64_t arrived; // seconds since 1970
};
struct arrivals {
	const struct arrival *item;
	size_t count;
};

void arrivals_write(const struct arrivals *a, struct buf *out);
// All of *out is in text. ERR_INVALID names the value that is wrong; ERR_LIMIT.
int arrivals_read(struct str json, struct arrivals *out, struct arena *text, struct err *e) MUST_CHECK;

// Within a transaction, at its begin and before its end. ERR_FULL, ERR_IO, and errors of the catalog. A record that cannot
// be read is logged and left out.
int arrivals_load(struct catalog *c, struct err *e) MUST_CHECK;
int arrivals_save(struct catalog *c, struct err *e) MUST_CHECK;

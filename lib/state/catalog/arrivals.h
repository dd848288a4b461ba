// SPDX-License-Identifier: Apache-2.0
// When files and projects came, where nothing else says so, here and upstream (catalog_upstream_had()): it decides
// whose a name is, and how long views keep a version.
// The table `came` has it, which triggers fill, but goes with the catalog. So what a transaction adds is in a record
// before catalog_commit() returns: FOLDER/0000000001.TIME and so on (lib/place/record.h), {"arrivals": [{"platform",
// "name", "sha256", "arrived"}]}; without a hash the name is a project's. A new catalog reads them all. Of records that
// say different times the last counts. After a thousand records all is written again, under one number, and the older
// ones go. One thread at a time for each connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

struct catalog;
struct place_folder;

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

// The folder, which has other records of the catalog too (catalog-told.h). make: as record_secret_folder().
struct place_folder *arrivals_folder(const struct catalog *c, bool make, struct err *e) MUST_CHECK;

// What a transaction has added. All zero: nothing.
struct arrivals_unsaved {
	struct arena text;
	struct arrival *item;
	size_t count, room;
	int64_t before; // number of the newest record before
};
void arrivals_release(struct arrivals_unsaved *u); // for CLEANUP

// At the begin of a transaction. Errors of these: ERR_FULL, ERR_IO, and those of the catalog. A record that cannot be
// read is logged and left out.
int arrivals_load(struct catalog *c, struct err *e) MUST_CHECK;
// Before its end.
int arrivals_collect(struct catalog *c, struct arrivals_unsaved *u, struct err *e) MUST_CHECK;
// After it, so that nobody waits for the disk: records of several transactions are written at once.
int arrivals_save(struct catalog *c, const struct arrivals_unsaved *u, struct err *e) MUST_CHECK;
// 1: a crash has kept a record from being written, or somebody has removed it. mends: in a transaction, whose end
// writes it again. Numbers before the lowest one there have been written again.
int arrivals_check(struct catalog *c, bool mends, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The facts of one wheel on their way into the catalog: packed, with the names and symbols that searches find. A scan
// or an upload takes them right after it has read the file; facts that cannot be taken are known to be unknown, and
// fail neither. One thread at a time; may be handed to another one.
#pragma once

#include "lib/facts/wheel-facts.h"
#include "lib/base/arena.h"
#include "lib/place/place.h"
#include "lib/state/catalog/catalog-facts.h"

// All zero: nothing was taken, and nothing is put.
struct packed_facts {
	bool is_taken;
	char *why; // why there are none; NULL: they are in what follows
	struct buf packed;
	struct catalog_facts_name *name;
	size_t names, room;
	struct name_hashes symbols;
	struct arena text;
};

void packed_facts_release(struct packed_facts *t); // for CLEANUP
// Reads the wheel, whose file others may write. What is wrong with it becomes the reason. ERR_IO: it cannot be read;
// ERR_BUSY: it is no longer as it was at `before`. Then nothing was taken.
int packed_facts_read_file(struct wheel_reader *r, const struct byte_source *bytes, struct place_file *file,
	const struct place_version *before, const struct filename *name, struct packed_facts *out,
	struct err *e) MUST_CHECK;
// The same from facts that the caller has, or from the error of wheel_facts_read.
void packed_facts_pack(struct wheel_reader *r, const struct wheel_facts *f, struct packed_facts *out);
int packed_facts_fail(const struct err *why, struct packed_facts *out,
	struct err *e) MUST_CHECK;
// The memory that it takes, in bytes.
size_t packed_facts_size(const struct packed_facts *t);
// Puts what was taken into the catalog, in the caller's transaction. Errors of catalog.h.
int packed_facts_put(const struct packed_facts *t, struct catalog *c, const uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;

// The hash of a symbol, for searches.
uint64_t packed_facts_symbol(struct str symbol, bool is_imported);

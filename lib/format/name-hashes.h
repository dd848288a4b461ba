// SPDX-License-Identifier: Apache-2.0
// A set of names as hashes: it tells whether a name is in it, with a wrong "yes" for one name in a million. Each set is
// cut into slices by the hash, so that a search for one name in very many sets reads one slice of each: about three
// bytes for each name of the slice. The hashes are sorted, spread over a range that grows with their number, and
// written as differences (a Golomb-coded set with whole bytes). Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum { NAME_HASHES_SLICES = 16 };

struct name_hashes { // all zero is an empty set
	struct buf slice[NAME_HASHES_SLICES];
};

uint64_t name_hashes_of(struct str name);
// Makes the set of these hashes, which it sorts; equal ones count once. The caller releases *out.
void name_hashes_make(struct name_hashes *out, uint64_t *hash, size_t count);
void name_hashes_release(struct name_hashes *s);
// Which slice a hash is in, and whether these bytes of that slice have it. Any bytes are fine.
unsigned name_hashes_slice(uint64_t hash);
bool name_hashes_has(struct str slice, uint64_t hash);

// SPDX-License-Identifier: Apache-2.0
// Computes the digests of the members of wheels that the catalog wants (catalog_content_wanted()): of those whose name
// evidence gives to other bytes. So only such wheels are unpacked, once. One thread at a time for each catalog
// connection.
#pragma once

#include <stdatomic.h>

#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

// store: registered. No wheel is begun after most_ms (0: no limit), or once *cancel (NULL: never) is set; the rest
// stays wanted. So does a wheel that cannot be read now, which is logged. Each digest is a transaction of its own,
// outside of one of the caller's. Errors of catalog.h.
int wanted_contents_take(const struct store *store, struct catalog *c, unsigned most_ms, const _Atomic bool *cancel,
	struct err *e) MUST_CHECK;
// The digest of the members of these bytes: what the catalog knows, else of a file, and then it is not written. 1: it
// is known; 0: it is not.
int wanted_contents_of(const struct store *store, struct catalog *c, const uint8_t sha256[SHA256_SIZE],
	uint8_t content[SHA256_SIZE], struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// A set of SHA-256 digests, 66 to 132 bytes each. One thread at a time. Memory that runs out ends the process.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/format/digest.h"

struct digest_set;

struct digest_set *digest_set_new(void);
void digest_set_free(struct digest_set *s); // NULL is fine
// Adds a digest. False: it was there.
bool digest_set_add(struct digest_set *s, const uint8_t sha256[SHA256_SIZE]);

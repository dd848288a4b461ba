// SPDX-License-Identifier: Apache-2.0
// Reservoir sampling: a random choice of a fixed number of ids from a sequence of unknown length, all equally likely.
// The same seed and order give the same choice. One thread until reservoir_end; any thread afterwards.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reservoir;

// Chooses at most `most` ids. Freed with reservoir_free.
struct reservoir *reservoir_new(size_t most, uint64_t seed);
void reservoir_free(struct reservoir *r);     // NULL is fine
void reservoir_cleanup(struct reservoir **r); // for CLEANUP
void reservoir_add(struct reservoir *r, int64_t id, uint64_t size);
// Nothing may be added afterwards. To be called before the next two.
void reservoir_end(struct reservoir *r);
bool reservoir_has(const struct reservoir *r, int64_t id);
// The sum of the sizes of the chosen files.
uint64_t reservoir_bytes(const struct reservoir *r);

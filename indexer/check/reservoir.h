// SPDX-License-Identifier: Apache-2.0
// A random choice among ids that come one by one, each as likely to be chosen as any other. The
// same seed and order give the same choice. One thread until reservoir_end; then any may ask.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reservoir;

// Chooses most of what is offered, or all where that is less.
struct reservoir *reservoir_new(size_t most, uint64_t seed);
void reservoir_free(struct reservoir *s);     // NULL is fine
void reservoir_cleanup(struct reservoir **s); // for CLEANUP
void reservoir_offer(struct reservoir *s, int64_t id, uint64_t size);
void reservoir_end(struct reservoir *s);
bool reservoir_has(const struct reservoir *s, int64_t id);
// Of all that was chosen.
uint64_t reservoir_bytes(const struct reservoir *s);

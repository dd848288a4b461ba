// SPDX-License-Identifier: Apache-2.0
// A random choice among ids that come one by one, each as likely to be chosen as any other. The
// same seed and order give the same choice. One thread until sample_end; then any may ask.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample;

// Chooses most of what is offered, or all where that is less.
struct sample *sample_new(size_t most, uint64_t seed);
void sample_free(struct sample *s);     // NULL is fine
void sample_cleanup(struct sample **s); // for CLEANUP
void sample_offer(struct sample *s, int64_t id, uint64_t size);
void sample_end(struct sample *s);
bool sample_has(const struct sample *s, int64_t id);
// Of all that was chosen.
uint64_t sample_bytes(const struct sample *s);

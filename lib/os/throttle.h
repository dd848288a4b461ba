// SPDX-License-Identifier: Apache-2.0
// Keeps a rate of bytes a second that several threads share: who took bytes waits until they are
// paid for. Thread-safe.
#pragma once

#include <stdint.h>

struct throttle;

// rate: bytes a second, at least 1.
struct throttle *throttle_new(uint64_t rate);
void throttle_free(struct throttle *t);     // NULL is fine
void throttle_cleanup(struct throttle **t); // for CLEANUP
// So many bytes were taken: sleeps as long as that was ahead of the rate.
void throttle_took(struct throttle *t, uint64_t bytes);

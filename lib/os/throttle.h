// SPDX-License-Identifier: Apache-2.0
// Limits the bytes a second that several threads read together: a thread that has read bytes sleeps as long as they are
// ahead of the rate. Any thread; nothing here fails.
#pragma once

#include <stdint.h>

struct throttle;

// rate: bytes a second, at least 1.
struct throttle *throttle_new(uint64_t rate);
void throttle_free(struct throttle *t);     // NULL is fine
void throttle_cleanup(struct throttle **t); // for CLEANUP
// Accounts for bytes that the caller has read, and sleeps until the rate allows them.
void throttle_account(struct throttle *t, uint64_t bytes);

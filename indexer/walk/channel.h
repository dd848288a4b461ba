// SPDX-License-Identifier: Apache-2.0
// A queue of pointers from many threads to one, which holds a bounded number: who puts too fast
// waits.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct channel;

struct channel *channel_new(size_t room);
void channel_free(struct channel *c); // must be empty; NULL is fine
// Hands item over.
void channel_put(struct channel *c, void *item);
// No more will be put.
void channel_close(struct channel *c);
// The oldest item; NULL after timeout_ms without one, or when closed and empty (*ended tells).
void *channel_take(struct channel *c, unsigned timeout_ms, bool *ended);

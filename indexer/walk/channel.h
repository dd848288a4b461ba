// SPDX-License-Identifier: Apache-2.0
// A bounded queue of pointers from many threads to one. channel_put blocks while the queue is full. The queue does not
// own the items: the taker does.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct channel;

// room: how many items it holds. Freed with channel_free.
struct channel *channel_new(size_t room);
void channel_free(struct channel *c); // must be empty; NULL is fine
// Any thread. Passes ownership of item to the taker.
void channel_put(struct channel *c, void *item);
// Any thread. No item may be put after it.
void channel_close(struct channel *c);
// One thread. Returns the oldest item; NULL after timeout_ms without one, or (*ended is true then) when the channel is
// closed and empty.
void *channel_take(struct channel *c, unsigned timeout_ms, bool *ended);

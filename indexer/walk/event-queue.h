// SPDX-License-Identifier: Apache-2.0
// A bounded queue of pointers from many threads to one. event_queue_put blocks while the queue is full. The queue does
// not own the items: the taker does.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct event_queue;

// room: how many items it holds. Freed with event_queue_free.
struct event_queue *event_queue_new(size_t room);
void event_queue_free(struct event_queue *q); // must be empty; NULL is fine
// Any thread. Passes ownership of item to the taker.
void event_queue_put(struct event_queue *q, void *item);
// Any thread. No item may be put after it.
void event_queue_close(struct event_queue *q);
// One thread. Returns the oldest item; NULL after timeout_ms without one, or (*ended is true then) when it is
// closed and empty.
void *event_queue_take(struct event_queue *q, unsigned timeout_ms, bool *ended);

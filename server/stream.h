// SPDX-License-Identifier: Apache-2.0
// Answers that are not there yet. A body that still comes from elsewhere while it is sent is a stream: server/http asks
// for its bytes as the client takes them. Whoever waits, for a stream or for what an answer is made from, is a waiter,
// and holds no thread.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Somebody who sleeps until something has happened.
struct waiter {
	void (*wake)(struct waiter *w); // once, from any thread; when it returns the waiter may be gone
	struct waiter *next;            // of whoever keeps it meanwhile
	unsigned step;                  // how far whoever is woken had come; 0 at first
};

// Wakes each of a list, which nobody else has any more; without a lock that one of them may want. NULL is fine.
void waiter_wake_all(struct waiter *first);

struct stream {
	const struct stream_ops *ops; // embedded in the struct of whoever implements it
};

// Any thread; none may block.
struct stream_ops {
	// Up to room bytes from at: how many. 0: there are none yet. -1: there never will be, and the client must not
	// take what he has for the whole.
	ssize_t (*read)(struct stream *s, uint64_t at, char *out, size_t room);
	// Wakes w as soon as read() has another answer than 0; maybe before this returns.
	void (*await)(struct stream *s, uint64_t at, struct waiter *w);
	void (*unref)(struct stream *s);
};

// SPDX-License-Identifier: Apache-2.0
// Answers that are not there yet. A body that still comes from elsewhere while it is sent is a stream: server/http/http asks
// for its bytes as the client takes them. Whoever waits, for a stream or for what an answer is made from, is a waiter,
// and holds no thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Somebody who sleeps until something has happened.
struct continuation {
	void (*resume)(struct continuation *w); // once, from any thread; when it returns the waiter may be gone
	struct continuation *next;              // of whoever keeps it meanwhile
	unsigned step;                          // how far whoever is woken had come; 0 at first
	const atomic_bool *has_left;            // whether its client has closed the connection; NULL: nobody can tell
};

// Its client is gone: the answer is for nobody. Any thread, while somebody keeps the waiter.
static inline bool continuation_has_left(const struct continuation *w)
{
	return w->has_left && atomic_load_explicit(w->has_left, memory_order_relaxed);
}

// Wakes each of a list, which nobody else has any more; without a lock that one of them may want. NULL is fine.
void continuation_resume_all(struct continuation *first);
// Takes those whose clients are gone out of a list, under its lock: a list to be woken without it.
struct continuation *continuation_take_left(struct continuation **first);

struct stream {
	const struct stream_ops *ops; // embedded in the struct of whoever implements it
};

// Any thread; none may block.
struct stream_ops {
	// Up to room bytes from at: how many. 0: there are none yet. -1: there never will be, and the client must not
	// take what he has for the whole.
	ssize_t (*read)(struct stream *s, uint64_t at, char *out, size_t room);
	// Wakes w as soon as read() has another answer than 0; maybe before this returns.
	void (*await)(struct stream *s, uint64_t at, struct continuation *w);
	void (*unref)(struct stream *s);
};

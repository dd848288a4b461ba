// SPDX-License-Identifier: Apache-2.0
// Answers that are not complete yet. A stream is a body that arrives from elsewhere while it is sent: server/http reads
// it as fast as the client does. A continuation waits for the next bytes of a stream, or for the data of an answer, and
// holds no thread meanwhile.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A suspended request. The module that the request waits for links the continuation into its list and resumes it once.
struct continuation {
	void (*resume)(struct continuation *w); // once, by any thread; w may be freed when it returns
	struct continuation *next;              // in the list of the module that keeps it
	unsigned step;                          // the progress of the handler that is resumed; 0 at first
	const atomic_bool *has_left;            // whether its client has closed the connection; NULL: unknown
};

// Whether the client has closed the connection. Any thread, before the continuation is resumed.
static inline bool continuation_has_left(const struct continuation *w)
{
	return w->has_left && atomic_load_explicit(w->has_left, memory_order_relaxed);
}

// Resumes each continuation of a list that only the caller has. The caller holds no lock that a handler takes. NULL is
// fine.
void continuation_resume_all(struct continuation *first);
// Moves the continuations whose clients have left out of a list, whose lock the caller holds. The caller resumes the
// result after it has released that lock.
struct continuation *continuation_take_left(struct continuation **first);

struct stream {
	const struct stream_ops *ops; // the implementation embeds the struct in its own
};

// Called by any thread. None may block.
struct stream_ops {
	// Copies up to room bytes from offset at and returns how many. 0: none have arrived yet. -1: the stream has
	// failed, and the server closes the connection, so that the client does not take the body for complete.
	ssize_t (*read)(struct stream *s, uint64_t at, char *out, size_t room);
	// Resumes w as soon as read() returns something else than 0, perhaps before this call returns.
	void (*await)(struct stream *s, uint64_t at, struct continuation *w);
	// Drops the reference of the caller.
	void (*unref)(struct stream *s);
};

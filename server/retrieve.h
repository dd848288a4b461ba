// SPDX-License-Identifier: Apache-2.0
// Files of upstream on their way into the depot. Each is fetched once, however many want it: they get its bytes while
// they come. The last byte is held back until the whole has the hash and the size that upstream's page says, so that
// nobody completes what is not right. What is cut in the middle is gone on with where it was cut. Thread-safe; nobody
// who waits holds a thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/fetch-pool.h"
#include "lib/state/depot.h"
#include "server/stream.h"

struct retrieve;

struct metrics;

// The pool runs in a thread of its own; all three are borrowed. most: a larger file is not fetched.
struct retrieve *retrieve_new(struct fetch_pool *pool, struct depot *depot, struct metrics *metrics, uint64_t most);
// Who waits is woken, streams end, and nothing is begun any more. Any thread; NULL is fine.
void retrieve_give_up(struct retrieve *r);
void retrieve_free(struct retrieve *r); // after the pool was stopped; NULL is fine

struct retrieve_wish {
	const char *project, *filename; // of the depot
	const char *url;                // where it is
	const char *home;               // the index that said so
	const uint8_t *sha256;          // what it is to have; NULL: not known
	int64_t size;                   // the same; -1: not known
};

enum retrieve_state {
	RETRIEVE_LATER,  // again was taken: ask once more when it is woken
	RETRIEVE_STREAM, // it is coming
	RETRIEVE_KEPT,   // it is whole: here it is, and soon in the depot
	RETRIEVE_ABSENT, // upstream says that it is not there
	RETRIEVE_FULL,   // there is no room for it here
	RETRIEVE_FAILED,
};
struct retrieve_result {
	enum retrieve_state state;
	struct stream *stream; // of RETRIEVE_STREAM: a reference for the caller
	uint64_t length;       // of it
	struct depot_file file; // of RETRIEVE_KEPT: fd is the caller's; else -1
	char why[256];         // of the last three; they are remembered for some seconds
};
// Joins those who want it, or begins. wants_whole: no stream will do. Where the state is RETRIEVE_LATER, again may have
// been woken before this returns.
void retrieve_file(struct retrieve *r, const struct retrieve_wish *wish, bool wants_whole, struct waiter *again,
	struct retrieve_result *out);

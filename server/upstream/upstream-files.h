// SPDX-License-Identifier: Apache-2.0
// Files of upstream on their way into the depot. Each is fetched once, however many want it: they get its bytes while
// they come. The last byte is held back until the whole has the hash and the size that upstream's page says, so that
// nobody completes what is not right. They are bounded, and have their turns fairly between clients (server/http/fair-queue). What nobody waits for
// any more is dropped, with a pause in which its bytes wait for the next one who asks. What is whole is brought into the depot in the next lull (server/upstream/debounce). What is cut in
// the middle is gone on with where it was cut. Thread-safe; nobody who waits holds a thread.
#pragma once

#include "lib/net/fetch-pool.h"
#include "server/upstream/inflight-file.h"

struct upstream_files;

// The pool runs in a thread of its own; all three are borrowed. What is larger than all that the depot may hold is not
// fetched.
// concurrency: files under way at once.
struct upstream_files *upstream_files_new(struct fetch_pool *pool, unsigned concurrency, struct file_cache *file_cache,
	struct metrics *metrics);
// To be called now and then: lets go of those whose clients have left, and of what nobody wants any more.
void upstream_files_let_go(struct upstream_files *r);
void upstream_files_count(struct upstream_files *r, struct fair_queue_counts *out); // NULL is fine: zeros
// Who waits is woken, streams end, and nothing is begun any more. Any thread; NULL is fine.
void upstream_files_cancel(struct upstream_files *r);
void upstream_files_free(struct upstream_files *r); // after the pool was stopped; NULL is fine

// Joins those who want it, or begins. wants_whole: no stream will do. Where the state is FILE_FETCH_LATER, again may have
// been woken before this returns.
void upstream_files_file(struct upstream_files *r, const struct file_request *wish, bool wants_whole,
	struct continuation *continuation, struct file_fetch_result *out);

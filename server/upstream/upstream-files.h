// SPDX-License-Identifier: Apache-2.0
// Downloads files of upstream into the file cache. However many clients want a file, it is downloaded once.
//
// Clients get the bytes while they arrive. The last byte is held back until the whole file has the hash and the size
// that upstream's page says, so no client completes a wrong file. Downloads are limited, and queued fairly between
// clients (server/http/fair-queue.h). A download that no client waits for is cancelled; its bytes are kept for a
// while, and the next client continues it. An interrupted download continues where it was cut. A whole file is written
// to the cache when the burst is over (debounce.h). Any thread may call any function, and a client that waits holds no
// thread.
#pragma once

#include "lib/net/fetch-pool.h"
#include "server/upstream/inflight-file.h"

struct upstream_files;

// The arguments are borrowed; the fetch pool runs in a thread of its own. concurrency: downloads at the same time.
// metrics may be NULL. Never NULL.
struct upstream_files *upstream_files_new(struct fetch_pool *pool, unsigned concurrency, struct file_cache *file_cache,
	struct metrics *metrics);
// Resumes clients that have left, and cancels downloads that no client wants. Called once a second.
void upstream_files_drop_left(struct upstream_files *r);
// r NULL: zeros.
void upstream_files_count(struct upstream_files *r, struct fair_queue_counts *out);
// Ends all downloads as failed, resumes the waiting clients, and begins no download any more. NULL is fine.
void upstream_files_cancel(struct upstream_files *r);
// After the fetch pool was stopped. NULL is fine.
void upstream_files_free(struct upstream_files *r);

// Joins the download of the file, or begins one. wants_whole: the caller needs the whole file, not a stream.
// out->state FILE_FETCH_LATER: the continuation is kept, and may be resumed before the call returns. A file larger
// than the whole cache is not downloaded: FILE_FETCH_FULL.
void upstream_files_get(struct upstream_files *r, const struct file_request *request, bool wants_whole,
	struct continuation *continuation, struct file_fetch_result *out);

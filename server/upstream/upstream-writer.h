// SPDX-License-Identifier: Apache-2.0
// What upstream answers, on its way in. One thread reads it, which takes time for a large page, and passes it on; another
// one writes it to the catalog, where others may be writing, in the next lull (server/upstream/debounce): nobody waits for that, until 64
// are to be written.
#pragma once

#include "lib/state/upstream/upstream.h"
#include "server/core/catalog-pool.h"

struct upstream_writer;

// By the thread that reads: the project is settled, and others may be told of it from now on. Borrowed.
typedef void upstream_writer_fn(void *ctx, struct upstream_project *p);
// By the thread that writes: it is in the catalog, or cannot be.
typedef void upstream_writer_written_fn(void *ctx, struct upstream_project *p, bool is_kept);
// All is borrowed until it is freed.
struct upstream_writer *upstream_writer_new(struct upstream *u, struct catalog_pool *readers,
	upstream_writer_fn *settled, upstream_writer_written_fn *written, void *ctx);
// Takes p over. Any thread.
void upstream_writer_ask(struct upstream_writer *i, struct upstream_project *p);
// What is asked has to be answered before it ends, so the pool is cancelled first. NULL is fine.
void upstream_writer_free(struct upstream_writer *i);

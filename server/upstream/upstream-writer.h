// SPDX-License-Identifier: Apache-2.0
// Parses upstream's answers in one thread, and saves them to the catalog in another one.
//
// Parsing a large page takes time, and other processes may be writing to the catalog. So saving is deferred until a
// burst of requests is over (debounce.h), and no client waits for it. If 64 answers are not saved yet, parsing waits.
#pragma once

#include "lib/state/upstream/upstream.h"
#include "server/core/catalog-pool.h"

struct upstream_writer;

// Called by the parsing thread: the project is parsed, and may be shown to clients from now on. p is borrowed.
typedef void upstream_writer_parsed_fn(void *ctx, struct upstream_project *p);
// Called by the saving thread: the project is in the catalog (is_kept), or could not be saved. p is borrowed.
typedef void upstream_writer_saved_fn(void *ctx, struct upstream_project *p, bool is_kept);

// Starts both threads. All arguments are borrowed until upstream_writer_free(). Never NULL.
struct upstream_writer *upstream_writer_new(struct upstream *u, struct catalog_pool *catalog_pool,
	upstream_writer_parsed_fn *parsed, upstream_writer_saved_fn *saved, void *ctx);
// Sends the request for a project, and takes p over. Any thread.
void upstream_writer_request(struct upstream_writer *w, struct upstream_project *p);
// Parses and saves all that was requested, then ends the threads. It waits for every answer, so the caller cancels the
// fetch pool first. NULL is fine.
void upstream_writer_free(struct upstream_writer *w);

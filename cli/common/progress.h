// SPDX-License-Identifier: Apache-2.0
// A line on a terminal's stderr that is written again and again while there is much to do.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indexer/walk/walk.h"

enum { PROGRESS_TEXT = 32 };

// "1.2 GB" as people say it.
void progress_bytes(double bytes, char out[PROGRESS_TEXT]);

struct progress {
	bool is_on;
	int64_t begun_ns;
	bool is_drawn;
};

// wanted false, or a stderr that is no terminal: nothing is ever written.
void progress_begin(struct progress *p, bool wanted);
// What walk_watch.progress wants; ctx is the struct progress.
void progress_walk(void *ctx, const struct walk_progress *walk);
// What export_options.progress wants; ctx is the struct progress.
void progress_export(void *ctx, uint64_t done, uint64_t all);
// For push_options.progress.
void progress_push(struct progress *p, size_t files, size_t all_files, uint64_t bytes, uint64_t all_bytes);
// What plan_options.progress wants; ctx is the struct progress.
void progress_look(void *ctx, uint64_t done, uint64_t all, uint64_t failed);
// Takes the line away.
void progress_end(struct progress *p);

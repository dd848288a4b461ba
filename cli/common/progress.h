// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr, if stderr is a terminal. Calls of one struct come from one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "indexer/walk/walk.h"

enum { PROGRESS_TEXT = 32 };

// Writes a size such as "1.2 GB": powers of 1000.
void progress_bytes(double bytes, char out[PROGRESS_TEXT]);

struct progress {
	bool is_on;
	int64_t begun_ns; // CLOCK_MONOTONIC
	bool is_drawn;    // the line is on the screen
};

// If wanted is false, or stderr is not a terminal, all functions write nothing.
void progress_begin(struct progress *p, bool wanted);
// For walk_watch.progress; ctx is the struct progress, also below.
void progress_walk(void *ctx, const struct walk_progress *walk);
// For export_options.progress.
void progress_export(void *ctx, uint64_t done, uint64_t all);
// For push_options.progress.
void progress_push(struct progress *p, size_t files, size_t all_files, uint64_t bytes, uint64_t all_bytes);
// For plan_options.progress.
void progress_look(void *ctx, uint64_t done, uint64_t all, uint64_t failed);
// Clears the line.
void progress_end(struct progress *p);

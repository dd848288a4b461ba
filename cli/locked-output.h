// SPDX-License-Identifier: Apache-2.0
// How `wheelcache missing --lock` prints what it found. Pure; any thread.
#pragma once

#include "builder/missing/locked-files.h"
#include "lib/base/buf.h"

// Whether an installation from a lock fails: a row that is wanted is missing or unknown, or has other bytes.
bool locked_output_fails(const struct locked_files *l);
// Totals of each lock and platform, then the rows that fail; wants_all: all.
void locked_output_table(const struct locked_files *l, bool wants_all, struct buf *out);
// {"totals", "skipped", "rows"}, a row a line.
void locked_output_json(const struct locked_files *l, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// Results of commands in forms that several have: a summary, a table, a file that the operator named. The main thread
// only.
#pragma once

#include "cli/common/session.h"
#include "indexer/walk/summary.h"

// Prints the summary of a scan or check: JSON, or a table; with --quiet only the problems. ERR_IO.
int output_summary(struct session *s, const struct summary *summary, struct err *e) MUST_CHECK;
// The file appears complete, or stays as it was. option: its name, such as "--output", for messages. ERR_USAGE: there
// is something else than a regular file, such as a link or /dev/stdout, which must not be replaced; ERR_IO, ERR_FULL.
int output_write_file(const char *option, const char *path, struct str bytes, struct err *e) MUST_CHECK;

// A table for people. All columns but the last one, which is not escaped here, are padded to their widest cell.
struct output_table {
	size_t columns;
	const char **cell; // row by row; borrowed
	size_t count, room;
};
// Adds the cells of one row, which outlive the table, as the arena does.
void output_table_add(struct arena *arena, struct output_table *t, const char *const *cell);
void output_table_print(const struct output_table *t, struct buf *out);

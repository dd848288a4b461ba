// SPDX-License-Identifier: Apache-2.0
// Where the results of commands go: standard output, or a file that the operator named. The main thread only.
#pragma once

#include "indexer/walk/summary.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// Writes text to standard output. ERR_IO; ERR_LIMIT: the text is larger than its buffer may be.
int output_print(const struct buf *text, struct err *e) MUST_CHECK;
// Writes the document, with indentation, and releases it. ERR_IO.
int output_json(struct jsondoc *doc, struct err *e) MUST_CHECK;
// Prints the summary of a scan or check: JSON, or a table; quiet: only the problems. ERR_IO.
int output_summary(const struct summary *summary, bool is_json, bool is_quiet, struct err *e) MUST_CHECK;
// The file appears complete, or stays as it was. option: its name, such as "--output", for messages. ERR_USAGE: there
// is something else than a regular file, such as a link or /dev/stdout, which must not be replaced; ERR_IO, ERR_FULL.
int output_write_file(const char *option, const char *path, struct str bytes, struct err *e) MUST_CHECK;

// A table for people. All columns but the last one, which is not escaped here, are padded to their widest cell.
struct output_table {
	size_t columns;
	const char **cell; // row by row; borrowed
	size_t count, room;
};
// Adds the cells of one row, which outlive the table.
void output_table_add(struct output_table *t, const char *const *cell);
void output_table_print(const struct output_table *t, struct buf *out);
void output_table_release(struct output_table *t); // for CLEANUP

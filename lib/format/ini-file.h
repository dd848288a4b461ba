// SPDX-License-Identifier: Apache-2.0
// A reader of INI files: "[section]" and "key = value" (or "key: value"). "#" and ";" begin a comment line, and after a
// blank a comment at the end of a line. An indented line continues the value above it, and causes another call for the
// same key; where there is no value above it, it is the value. Capital letters of a key are small
// ones, tabs in a value are blanks. A line has at most LIMIT_CONFIG_LINE bytes, a file LIMIT_CONFIG. Any thread.
//
// Why this is our own: inih as distributions build it cuts a line at 197 bytes and a section's name at 49, and does not
// say which line has a mistake.
#pragma once

#include "lib/base/err.h"

// A line of the file. All strings are borrowed for the call.
struct ini_file_line {
	int number; // from 1
	const char *section;
	const char *key, *value; // NULL: a section begins
};
// Called for each value, and where a section begins. Returns 0, or -1 with *e set: the reading ends, and the error gets
// "path:line: " in front.
typedef int ini_file_handler(void *ctx, const struct ini_file_line *line, struct err *e);

// ERR_USAGE with "path:line: " in front where the file is no INI file. Reading stops at the first mistake.
int ini_file_read_file(const char *path, ini_file_handler *handler, void *ctx, struct err *e) MUST_CHECK;

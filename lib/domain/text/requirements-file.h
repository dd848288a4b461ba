// SPDX-License-Identifier: Apache-2.0
// Parses requirements and constraints files as pip does: comments, continuation lines, options, extras, hashes, URLs
// (https://pip.pypa.io/en/stable/reference/requirements-file-format/). It parses the text of one file; the caller opens
// the files that -r and -c name. Pure functions; any thread.
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

enum requirements_line_kind {
	REQUIREMENTS_LINE_PROJECT,     // a requirement
	REQUIREMENTS_LINE_INCLUDE,     // -r FILE
	REQUIREMENTS_LINE_CONSTRAINTS, // -c FILE
	REQUIREMENTS_LINE_PRE,         // --pre
	REQUIREMENTS_LINE_EDITABLE,    // -e PATH
	REQUIREMENTS_LINE_OPTION,      // where or how pip gets files: --index-url, --only-binary, …
};

#define REQUIREMENTS_EDITABLE_WORDS "an editable requirement is not a version of a project"

// A logical line. Everything in it is borrowed until the callback returns.
struct requirements_line {
	enum requirements_line_kind kind;
	unsigned number;        // of its first line in the file, from 1
	struct str argument;    // INCLUDE and CONSTRAINTS: the file; OPTION and EDITABLE: as written
	const char *project;    // normal form; NULL for the other kinds
	struct str extras;      // the text between the brackets
	struct str specifier;   // a valid specifier set; "": all versions
	struct str marker;      // not evaluated; "": none
	struct str url;         // of "NAME @ URL"; "": none
	const struct str *hash; // the values of --hash, such as "sha256:…"
	size_t hashes;
};

// Returns 0, or -1 with *e set, which ends the reading.
typedef int requirements_line_fn(void *ctx, const struct requirements_line *line, struct err *e);

// Calls fn for each logical line that is not empty or a comment. ERR_USAGE if the text is not UTF-8, a line is longer
// than LIMIT_REQUIREMENT_LINE bytes, or a line is invalid in pip or names no project (a path). Errors,
// also those of fn, begin with "path:line: ".
int requirements_file_read(struct str text, const char *path, requirements_line_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Calls fn with one requirement without options, as Requires-Dist has it (PEP 508, and the older form with
// parentheses): the number of its line is 0. The same errors, without a beginning.
int requirements_line_read(struct str text, requirements_line_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Requirements and constraints files, as pip reads them: comments, continuation lines, options, extras, hashes, URLs
// (https://pip.pypa.io/en/stable/reference/requirements-file-format/). It reads one file's text; the caller opens the files
// that -r and -c name. Pure functions: any thread.
#pragma once

#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

enum requirements_line_kind {
	REQUIREMENTS_LINE_PROJECT,     // a requirement
	REQUIREMENTS_LINE_INCLUDE,     // -r FILE
	REQUIREMENTS_LINE_CONSTRAINTS, // -c FILE
	REQUIREMENTS_LINE_PRE,         // --pre
	REQUIREMENTS_LINE_OPTION,      // says where or how pip gets files: --index-url, --only-binary, …
};

// A logical line. All slices are borrowed: from the text, or until the callback returns.
struct requirements_line {
	enum requirements_line_kind kind;
	unsigned number;        // of its first line in the file, from 1
	struct str argument;    // of INCLUDE and CONSTRAINTS the file; of OPTION the option as it stands there
	const char *project;    // normal form; NULL for the other kinds
	struct str extras;      // as they stand between the brackets
	struct str specifier;   // a valid specifier set; "": every version
	struct str marker;      // not read here; "": none
	struct str url;         // of "NAME @ URL"; "": none
	const struct str *hash; // "sha256:…", of each --hash
	size_t hashes;
};

typedef int requirements_line_fn(void *ctx, const struct requirements_line *line, struct err *e);

// Calls fn for each logical line that says something; fn's -1 ends it. ERR_USAGE, with "path:line: " in front, of the first
// line that means nothing to pip, or that names no project (a path, an editable), of text that is not UTF-8, and of more than
// LIMIT_REQUIREMENT_LINE bytes in a line. fn's error gets the same words in front.
int requirements_file_read(struct str text, const char *path, requirements_line_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The state of rendering one reStructuredText, and its lines. A block is a range of lines with a margin, the column where
// its text begins; a block within it has a range of these lines and a greater margin. One thread at a time.
#pragma once

#include "lib/base/limits.h"
#include "lib/readme/safe-html.h"

struct rst_line {
	struct str text; // without blanks at its end; tabs are blanks
	size_t indent;   // column where the text begins; columns of ASCII. A list moves it behind its marker
};

struct rst_targets;
struct rst;
// Writes the blocks of the lines [from, to), none of which but the first begins before the margin.
typedef void rst_blocks_fn(struct rst *r, size_t from, size_t to, size_t margin);

struct rst {
	struct safe_html *w; // borrowed
	struct rst_line *line;
	size_t count, room;
	rst_blocks_fn *blocks; // for the modules that find blocks within their own
	unsigned depth;        // of blocks within each other
	struct rst_targets *targets;
	size_t anonymous;                  // references without a name that were written
	size_t expanded;                   // bytes of replacements that were written
	char style[LIMIT_README_DEPTH][2]; // signs of the titles by level: below it; and above it, or NUL
	unsigned styles;
};

// Splits a text into lines. It is borrowed; it has neither tabs nor CR.
void rst_lines_split(struct rst *r, struct str text);
static inline bool rst_is_blank(const struct rst *r, size_t i)
{
	return r->line[i].indent >= r->line[i].text.len;
}
// The text of a line from its indentation on, or from a column on if that is further left.
struct str rst_text(const struct rst *r, size_t i);
struct str rst_text_from(const struct rst *r, size_t i, size_t column);
// The end of the lines from i on that are blank or begin behind the margin, without blank lines at the end.
size_t rst_body_end(const struct rst *r, size_t i, size_t to, size_t margin);
// The first line from i on that is not blank, or to.
size_t rst_skip_blank(const struct rst *r, size_t i, size_t to);
// The least indentation of the lines that are not blank; if there are none, SIZE_MAX.
size_t rst_least_indent(const struct rst *r, size_t i, size_t to);
// Writes the blocks of an item whose text begins in line i at the column and goes on in the lines up to end.
void rst_write_item(struct rst *r, size_t i, size_t end, size_t column);
// Writes lines as they are, as code, without their common indentation.
void rst_write_literal(struct rst *r, size_t from, size_t to);
// True if the line is one sign of punctuation, at least so often.
bool rst_is_adornment(struct str text, size_t least);

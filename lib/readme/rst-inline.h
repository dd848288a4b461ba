// SPDX-License-Identifier: Apache-2.0
// Writes the text of a reStructuredText paragraph: emphasis, literals, links, roles as their text, replacements. Markup
// within markup is text, as in docutils. Linear: a sign without its end is searched for once.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/readme/safe-html.h"

// The state of rendering one reStructuredText, and its lines. A block is a range of lines with a margin, the column
// where its text begins; a block within it has a range of these lines and a greater margin. One thread at a time.

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

void rst_inline_write(struct rst *r, struct str text);
// Writes an image or, where it has a target, its words as a link there.
void rst_inline_write_image(struct rst *r, struct str url, struct str alt, struct str target);

// What the names in a reStructuredText stand for: targets of links (".. _name: URL"), those without a name, and
// replacements (".. |name| image:: URL"). Pure; the strings are slices of the lines.

struct rst_replacement {
	struct str directive, argument; // "image" and its URL, "replace" and its text
	struct str alt, target;         // of an image; empty: none, then the name is used
};

struct rst_targets {
	struct rst_name {
		struct str name; // in lower case, with one blank between words; of a replacement with "|" in front
		struct str url;  // of a target; may end with "_", then it is the name of another
		struct rst_replacement replacement;
	} * item; // sorted by name
	size_t count, room;
	struct str *anonymous; // URLs, in their order
	size_t anonymous_count, anonymous_room;
	struct arena text;
};

// Finds them in all lines. rst_targets_release() ends it.
void rst_targets_collect(struct rst_targets *t, const struct rst *r);
void rst_targets_release(struct rst_targets *t);
// The length of the text up to the colon that ends a name in front of it, as of "name: value" or ":name: value"; -1:
// there is none. A colon is escaped by a backslash, or stands between words.
long rst_name_end(struct str text);
// The value of an option of the directive in the lines [from, to), such as ":alt: words"; empty: none.
struct str rst_option(const struct rst *r, size_t from, size_t to, struct str name);
// The first line behind the options.
size_t rst_options_end(const struct rst *r, size_t from, size_t to);

// SPDX-License-Identifier: Apache-2.0
// Writes the text of a reStructuredText paragraph: emphasis, literals, links, roles as their text, replacements. Markup
// within markup is text, as in docutils. Linear: a sign without its end is searched for once.
#pragma once

#include "lib/base/arena.h"
#include "lib/readme/rst-lines.h"

void rst_inline_write(struct rst *r, struct str text);
// The same for the lines [from, to), as one text.
void rst_inline_write_lines(struct rst *r, size_t from, size_t to);
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
// The URL of a name. False: the text has no such target.
bool rst_targets_find(const struct rst_targets *t, struct str name, struct str *url);
// The replacement of a name. NULL: none.
const struct rst_replacement *rst_targets_replacement(const struct rst_targets *t, struct str name);
// The length of the text up to the colon that ends a name in front of it, as of "name: value" or ":name: value"; -1:
// there is none. A colon is escaped by a backslash, or stands between words.
long rst_name_end(struct str text);
// The value of an option of the directive in the lines [from, to), such as ":alt: words"; empty: none.
struct str rst_option(const struct rst *r, size_t from, size_t to, struct str name);
// The first line behind the options.
size_t rst_options_end(const struct rst *r, size_t from, size_t to);

// SPDX-License-Identifier: Apache-2.0
// Writes HTML for foreign text. Everything that a renderer of texts puts into a page goes through here: elements come
// from a fixed list, text is escaped, targets of links are checked, and what is open is closed. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"

// What the page around a text that is rendered decides about it. The caller owns what the pointers lead to.

// Decides what a relative link (no scheme, no host) becomes. It adds the URL to out, which the renderer escapes, or
// returns false: then the words stay without a link.
typedef bool readme_link_fn(void *ctx, struct str target, struct buf *out);

struct readme_options {
	unsigned heading_offset; // levels that headings are lowered; none is lower than h6
	// In front of the id of each heading, which is made of its words as GitHub does; a link "#words" leads there.
	// NULL: no ids, and such links are dropped.
	const char *id_prefix;
	readme_link_fn *link; // NULL: relative links are dropped, as for a package, whose files have no URL
	void *link_ctx;
};

// Ids of headings from their words, as GitHub makes them: lower case, blanks as hyphens, without punctuation; a
// repeated one gets a number. One thread at a time.

// All zero is ready.
struct heading_ids {
	struct heading_id {
		uint64_t hash;
		struct str id;
		unsigned repeated; // number of headings after it with the same words
	} * item;
	size_t count, room;
	struct arena text;
};

enum safe_element {
	SAFE_H1,
	SAFE_H2,
	SAFE_H3,
	SAFE_H4,
	SAFE_H5,
	SAFE_H6,
	SAFE_P,
	SAFE_BLOCKQUOTE,
	SAFE_UL,
	SAFE_OL,
	SAFE_LI,
	SAFE_DL,
	SAFE_DT,
	SAFE_DD,
	SAFE_PRE,
	SAFE_CODE,
	SAFE_EM,
	SAFE_STRONG,
	SAFE_DEL,
	SAFE_TABLE,
	SAFE_THEAD,
	SAFE_TR,
	SAFE_TH,
	SAFE_TD,
	SAFE_A,
	SAFE_COUNT,
};

// The caller's storage; safe_html_init and safe_html_release.
struct safe_html {
	struct buf *out;                      // borrowed
	const struct readme_options *options; // borrowed
	struct heading_ids ids;
	unsigned char open[LIMIT_README_DEPTH]; // elements that are open, the outermost first
	unsigned depth;
	bool too_deep;     // an element did not fit; nothing more is written
	size_t most;       // length of out that nothing may exceed
	unsigned links;    // links that are open: 0 or 1
	size_t heading_at; // offset of the open heading's words
};

void safe_html_init(struct safe_html *w, const struct readme_options *options, struct buf *out);
void safe_html_release(struct safe_html *w); // for CLEANUP; writes nothing
// True if the text cannot be shown in this form: too deep, or too long. What was written is to be discarded.
bool safe_html_failed(const struct safe_html *w);

void safe_html_begin(struct safe_html *w, enum safe_element element);
void safe_html_end(struct safe_html *w); // the innermost element; nothing if none is open
// Closes elements until so many are open.
void safe_html_close_to(struct safe_html *w, unsigned depth);
// The innermost element that is open; SAFE_COUNT: none.
enum safe_element safe_html_top(const struct safe_html *w);
// A heading: level counts from 1, before it is lowered.
void safe_html_begin_heading(struct safe_html *w, unsigned level);
void safe_html_end_heading(struct safe_html *w);
// An ordered list that begins with this number.
void safe_html_begin_list(struct safe_html *w, unsigned start);
void safe_html_text(struct safe_html *w, struct str text);
void safe_html_break(struct safe_html *w); // <br>
void safe_html_rule(struct safe_html *w);  // <hr>
// Opens a link, and returns true if the target is a permitted one and no link is open; safe_html_end() closes it. The
// target is without character references.
bool safe_html_begin_link(struct safe_html *w, struct str target);
// A link to an image, with its alternative text, or the last part of the target.
void safe_html_image(struct safe_html *w, struct str target, struct str alt);

// Text in which a URL of http or https that stands by itself is a link, as people write it in Markdown and
// reStructuredText. Any thread.

void bare_links_write(struct safe_html *w, struct str text);

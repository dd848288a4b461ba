// SPDX-License-Identifier: Apache-2.0
// Renders foreign text as HTML that cannot harm the page around it: the description of a project, or a page of docs/.
//
// The output has only elements of a fixed list, text that is escaped, and links to http, https and mailto. It has no
// script, style, raw HTML or remote image: an image becomes a link with its text. The input may be any bytes. Time and
// memory are linear in its length, which is at most LIMIT_README; a text that is nested deeper than LIMIT_README_DEPTH,
// or that would cost more (markdown.c), is shown as plain text. Pure; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/readme/safe-html.h"

enum readme_kind { README_PLAIN, README_MARKDOWN, README_RST, README_KIND_COUNT };

// The kind that a Description-Content-Type names. Without one (empty) it is reStructuredText, except if the text looks
// like Markdown, which is what the indexes of packages assume. An unknown type is plain text.
enum readme_kind readme_kind_of(struct str content_type, struct str text);
// Appends the HTML to out. A text longer than LIMIT_README is cut at the end of a line, and a sentence says so.
// ERR_LIMIT if the result does not fit under the ceiling of out, which at least LIMIT_README_HTML always holds.
int readme_render(struct str text, enum readme_kind kind, const struct readme_options *options, struct buf *out,
	struct err *e) MUST_CHECK;

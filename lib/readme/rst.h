// SPDX-License-Identifier: Apache-2.0
// Renders reStructuredText: the part of it that descriptions of packages use. Sections, paragraphs, lists, literal
// blocks, doctests, line blocks, quotes, simple and grid tables, links, images, notes. What is damaged, or not known,
// is shown as text; nothing is an error. Comments, `raw` and `include` are left out. Any thread.
#pragma once

#include "lib/readme/safe-html.h"

// The text is UTF-8 with LF at the ends of its lines. False if it is nested too deep. What is written is to be
// discarded then, or if safe_html_failed() says so.
bool rst_render(struct str text, struct safe_html *w) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Takes out of a piece of foreign HTML what a text may show: words, links, images, line breaks, paragraphs. Elements that
// are not shown, such as scripts and styles, are left out with what is in them. Any thread.
#pragma once

#include "lib/readme/safe-html.h"

// A whole block. What cannot be read as HTML is left out.
void html_fragment_write(struct safe_html *w, struct str html);
// One tag within a line: an image, a line break, or the begin or the end of a link.
void html_fragment_write_tag(struct safe_html *w, struct str tag);

// SPDX-License-Identifier: Apache-2.0
// Writes the text of a reStructuredText paragraph: emphasis, literals, links, roles as their text, replacements. Markup
// within markup is text, as in docutils. Linear: a sign without its end is searched for once.
#pragma once

#include "lib/readme/rst-targets.h"

void rst_inline_write(struct rst *r, struct str text);
// The same for the lines [from, to), as one text.
void rst_inline_write_lines(struct rst *r, size_t from, size_t to);
// Writes an image or, where it has a target, its words as a link there.
void rst_inline_write_image(struct rst *r, struct str url, struct str alt, struct str target);

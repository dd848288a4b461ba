// SPDX-License-Identifier: Apache-2.0
// Blocks of reStructuredText that begin with two dots: images, code, notes and other directives, footnotes, comments,
// targets. A directive is shown by a table; of an unknown one its content is shown. None reads a file or passes HTML.
#pragma once

#include "lib/readme/rst-lines.h"

// Writes the block that begins in line i, and returns the first line behind it, or i if none begins there.
size_t rst_explicit_block(struct rst *r, size_t i, size_t to, size_t margin);

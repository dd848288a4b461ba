// SPDX-License-Identifier: Apache-2.0
// What the page around a text that is rendered decides about it. The caller owns what the pointers lead to.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

// Decides what a relative link (no scheme, no host) becomes. It adds the URL to out, which the renderer escapes, or
// returns false: then the words stay without a link.
typedef bool readme_link_fn(void *ctx, struct str target, struct buf *out);

struct readme_options {
	unsigned heading_offset; // levels that headings are lowered; none is lower than h6
	// In front of the id of each heading, which is made of its words as GitHub does; a link "#words" leads there. NULL:
	// no ids, and such links are dropped.
	const char *id_prefix;
	readme_link_fn *link; // NULL: relative links are dropped, as for a package, whose files have no URL
	void *link_ctx;
};

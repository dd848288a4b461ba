// SPDX-License-Identifier: Apache-2.0
// The pages of docs/ and README.md, which are part of the program: an uninstalled build and a container show them too.
// Constant data. Any thread.
#pragma once

#include <stddef.h>

#include "lib/base/str.h"

struct docs_page {
	const char *name; // "pruning.md"
	const char *text; // Markdown; the first line is "# " and the title
};

extern const struct docs_page docs_page[];
extern const size_t docs_page_count;

// NULL if there is no such page.
const struct docs_page *docs_page_named(struct str name);
// The name of the page to which a link of a page leads, with "#" and the heading if the link has one: "afs.md#rules" of
// "docs/afs.md#rules". Empty if it leads to no page.
struct str docs_page_link(struct str target);

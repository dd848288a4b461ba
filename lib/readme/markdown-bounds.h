// SPDX-License-Identifier: Apache-2.0
// Says whether a Markdown text can be parsed in linear time and memory. cmark-gfm needs more than that for some texts
// that nobody writes; Debian's versions differ in which (CVE-2022-39209 to CVE-2023-37463). The measures here are counts
// that such a text exceeds and a text for people does not. A pure function; any thread.
#pragma once

#include "lib/base/str.h"

// Returns NULL, or what the text has too much of, as words for "it has too many …".
const char *markdown_excess(struct str text);

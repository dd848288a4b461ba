// SPDX-License-Identifier: Apache-2.0
// What the pages for people have in common: how they look, begin and end. Pure.
#pragma once

#include "lib/base/buf.h"

// All up to the words in the header, which is left open: "</header>" is for the page.
void html_begin(struct buf *out, const char *title, const char *words);
// links: HTML, for the last line.
void html_end(struct buf *out, const char *links);
void html_count(struct buf *out, uint64_t n);    // "1,234,567"
void html_size(struct buf *out, uint64_t bytes); // "5.5 GB"

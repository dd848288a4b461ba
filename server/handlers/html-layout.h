// SPDX-License-Identifier: Apache-2.0
// What the pages for people share: style, beginning and end. No state: any thread. out's ceiling limits what is added.
#pragma once

#include "lib/base/buf.h"

// The header Content-Security-Policy of a page without scripts and forms.
extern const char html_plain_policy[];

// Adds all up to the words in the header. The caller adds "</header>".
void html_begin(struct buf *out, const char *title, const char *words);
// Adds all from "</main>" on. links: HTML, for the last line.
void html_end(struct buf *out, const char *links);
// The same for a page without commands to copy: it has no script.
void html_end_plain(struct buf *out, const char *links);
// A table in a card, up to the first row; class: of the card. columns: the heads, as HTML.
void html_begin_table(struct buf *out, const char *class, const char *const *column, size_t columns);
void html_end_table(struct buf *out);
void html_text(struct buf *out, const char *text); // escaped
// "2026-01-02 03:04 UTC", as an element <time>.
void html_time(struct buf *out, int64_t seconds);
void html_count(struct buf *out, uint64_t n); // "1,234,567"
// A number with its name, in a <dl>.
void html_total(struct buf *out, const char *name, uint64_t n);
void html_size(struct buf *out, uint64_t bytes); // "5.5 GB"

// SPDX-License-Identifier: Apache-2.0
// Writes the pages for people at /-/builds/ and /-/builds/PROJECT/: what fails now and since when, the trend, the last
// attempts; each attempt at one project. All text of builders is escaped.
// No state: any thread.
#pragma once

#include "server/pages/builds-data.h"
#include "server/pages/html-layout.h"

// What the search form shows.
struct builds_page_query {
	const struct builds_query *search;
	const char *const *platform; // the choices: names that the client may read
	size_t platforms;
};

// Add the page to out.
void builds_page_write(const struct html_frame *frame, const struct builds_data *data,
	const struct builds_page_query *query, struct buf *out);
// project: in normal form.
void builds_page_project(const struct html_frame *frame, const struct builds_data *data, const char *project,
	uint64_t limit, struct buf *out);
// The same as a document, which the caller frees.
struct jsondoc *builds_json(const struct builds_data *data, bool only_attempts);
// The log of an attempt as plain text that is safe to show: what third-party code printed may hold anything. Pure.
// Adds the log to out. Line ends become "\n". Other control characters become their pictures (U+2400 and on), those of
// the range U+0080 to U+009F, marks that change the direction of text, and bytes that are not UTF-8 become U+FFFD. So a
// terminal obeys none of it.
void builds_log_clean(struct str log, struct buf *out);

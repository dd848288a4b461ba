// SPDX-License-Identifier: Apache-2.0
// Writes the pages for people at /-/builds/ and /-/builds/PROJECT/: what fails now and since when, the trend, the last
// attempts; each attempt at one project. All text of builders is escaped.
// No state: any thread.
#pragma once

#include "lib/base/err.h"
#include "server/pages/builds-data.h"
#include "server/pages/html-layout.h"

// What the search form shows.
struct builds_page_query {
	const struct builds_query *search;
	const char *const *platform; // the choices: names that the client may read
	size_t platforms;
};

// Add the page to out; ERR_LIMIT if it is larger than out's ceiling.
int builds_page_write(const struct html_frame *frame, const struct builds_data *data,
	const struct builds_page_query *query, struct buf *out, struct err *e) MUST_CHECK;
// project: in normal form.
int builds_page_project(const struct html_frame *frame, const struct builds_data *data, const char *project,
	uint64_t limit, struct buf *out, struct err *e) MUST_CHECK;

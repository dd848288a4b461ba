// SPDX-License-Identifier: Apache-2.0
// Writes the pages for people at /-/builds/ and /-/builds/PROJECT/: what fails now and since when, the trend, the last
// attempts; each attempt at one project. All text of builders is escaped.
// No state: any thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/results/results.h"
#include "server/pages/html-layout.h"
#include "server/pages/trend-picture.h"

struct builds_query {
	const char *const *platforms; // names: those that the client may read, and no other
	size_t platform_count;
	const char *platform, *project; // globs, project in normal form; "": any
	const char *result;             // "": any
	uint64_t limit;                 // of attempts
	int64_t now;                    // seconds since 1970
	bool only_attempts;             // neither what fails now nor the trend
};

// An attempt, the newest of its platform, Python and project, that failed.
struct builds_failure {
	struct results_attempt attempt;
	int64_t since;  // when the first of its failures in a row began
	unsigned count; // of these
};

struct builds_data {
	struct arena text; // of all strings
	struct builds_failure *failure;
	size_t failures, failure_room;
	struct results_attempt *attempt; // the newest first
	size_t attempts, attempt_room;
	uint64_t running;
	struct trend_day day[TREND_DAYS]; // good and bad; the last one is today
	bool has_more;                      // attempts, or failures, beyond the limit or LIMIT_BUILDS_TEXT
};

// Copies the strings of an attempt into the arena.
struct results_attempt builds_data_copy(struct arena *text, const struct results_attempt *a);

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

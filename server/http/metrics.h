// SPDX-License-Identifier: Apache-2.0
// Counters of the server in Prometheus's text format (/-/metrics). Counting is one addition in memory that few threads
// share. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum metric {
	METRIC_PAGE_HITS,     // pages sent from the page cache
	METRIC_PAGE_MISSES,   // pages that a worker had to check or to make
	METRIC_PAGE_RENDERS,  // pages that were rendered
	METRIC_FETCHED_FILES, // upstream's files that were fetched and kept
	METRIC_FAILED_FILES,  // … whose fetching failed
	METRIC_FETCHED_BYTES, // … of all of them
	METRIC_SENT_BYTES,    // of upstream's files, to clients
	METRIC_DROPPED_FILES, // … that were dropped, since no client waited for them any more
	METRIC_REFUSED_FILES, // … that were refused, since the queue was full
	METRIC_DROPPED_PAGES, // the same for upstream's pages
	METRIC_REFUSED_PAGES,
	METRIC_NAME_CONFLICTS,          // upstream had a project under an owned name
	METRIC_EVIDENCE_RECEIVED,       // records of test runs that were new
	METRIC_EVIDENCE_REFUSED,        // … that were refused
	METRIC_PROMOTED_FILES,          // files that were promoted by HTTP
	METRIC_PROMOTION_REFUSED_FILES, // … that were refused
	METRIC_COUNT,
};

// The label "route" of the numbers about requests.
enum metric_route {
	METRIC_ROUTE_OTHER, // no route, or none of these
	METRIC_ROUTE_SIMPLE,
	METRIC_ROUTE_FILE,
	METRIC_ROUTE_UPSTREAM_FILE,
	METRIC_ROUTE_UPLOAD,
	METRIC_ROUTE_MACHINE,
	METRIC_ROUTE_COUNT,
};

extern const char *const metric_route_name[METRIC_ROUTE_COUNT];

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m); // NULL is fine
// m may be NULL in the next functions: then nothing is counted.
void metrics_add(struct metrics *m, enum metric metric, uint64_t n);
// A request was answered. bytes: of the body, which were sent. A status outside 100 to 599 is not counted.
void metrics_request(struct metrics *m, enum metric_route route, unsigned status, uint64_t bytes);
// A request to upstream for a page has ended. result: enum upstream_result; is_unchanged: upstream answered 304.
void metrics_upstream(struct metrics *m, unsigned result, bool is_unchanged, int64_t milliseconds);
// Appends all counters to out.
void metrics_write(struct metrics *m, struct buf *out);

// For metrics of other modules: appends "# HELP name help" and "# TYPE name type".
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
// Appends a line. labels: {"platform", value, …, NULL}, or NULL.
void metrics_line(struct buf *out, const char *name, const char *const *labels, double value);

// SPDX-License-Identifier: Apache-2.0
// What the server did, as numbers that only grow, in the text format of Prometheus (/-/metrics). Counting costs an
// addition in memory that threads hardly share. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum metric {
	METRIC_PAGE_HITS,     // pages sent as they were in memory
	METRIC_PAGE_MISSES,   // pages that a worker had to look after
	METRIC_PAGE_RENDERS,  // pages that were rendered
	METRIC_FETCHED_FILES, // upstream's files that were fetched whole and kept
	METRIC_FAILED_FILES,  // … whose fetching failed
	METRIC_FETCHED_BYTES, // … of all of them
	METRIC_SENT_BYTES,    // of upstream's files, to clients
	METRIC_DROPPED_FILES, // … that were dropped, since nobody waited for them any more
	METRIC_REFUSED_FILES, // … that found no place in the queue
	METRIC_DROPPED_PAGES, // the same of upstream's pages
	METRIC_REFUSED_PAGES,
	METRIC_NAME_CONFLICTS, // upstream had a project under a name that is ours
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
// m may be NULL in all of these: then nobody counts.
void metrics_add(struct metrics *m, enum metric metric, uint64_t n);
// A request was answered. bytes: of the body, which were sent. A status outside 100 to 599 is not counted.
void metrics_request(struct metrics *m, enum metric_route route, unsigned status, uint64_t bytes);
// Upstream was asked for a page: what became of it (enum upstream_result; a page that is known may be unchanged, by a 304),
// and how long it took.
void metrics_upstream(struct metrics *m, unsigned result, bool is_unchanged, int64_t milliseconds);
// Adds all that was counted.
void metrics_write(struct metrics *m, struct buf *out);

// For what others know: "# HELP name help", "# TYPE name type".
void metrics_head(struct buf *out, const char *name, const char *type, const char *help);
// A line: labels as {"platform", value, …, NULL}, or NULL.
void metrics_line(struct buf *out, const char *name, const char *const *labels, double value);

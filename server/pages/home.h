// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at "/": what the store has, and the commands that make pip and uv use it. It
// works without scripts. Platforms that the client may not read are omitted. No state: any thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/results/results.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"
#include "server/core/readable.h"
#include "server/core/server-context.h"
#include "server/pages/html-layout.h"

// What "/" says of the store beside its totals: upstream's health, files with problems, what came and what was removed
// lately, builds, the last plan, what is old. Of the platforms that the client may read whole. It costs the same for a
// million files: it reads the projects in memory, and a few rows of the catalog for each platform. One thread fills a
// value; any thread may read it.
enum {
	OVERVIEW_ARRIVALS = 8, // projects
	OVERVIEW_REMOVALS = 8,
	OVERVIEW_BUILDS = 5, // of each list of builds
	OVERVIEW_OLD = 5,
	OVERVIEW_PROBLEMS = 10,
	OVERVIEW_INDEXES = 20, // of upstream
	OVERVIEW_RULES = 20,   // holds and waivers
	OVERVIEW_REMOVED_DAYS = 30, // older removals are not told
	OVERVIEW_OLD_DAYS = 365,    // a project without a new file since is old
};

// The version whose files came last.
struct overview_arrival {
	const char *project, *version;
	int64_t when; // seconds since 1970
	size_t files; // of this version that came on the same day
	size_t platforms;
};

// Files of a project that were removed for the same reason.
struct overview_removal {
	const char *project, *reason;
	int64_t when;
	size_t files; // among the last ones of each platform
};

struct overview_old {
	const char *project;
	int64_t when; // its newest file came
};

struct overview_view {
	const char *view;
	uint64_t stale, ending; // projects, versions
};

// A file that is quarantined, or listed although it is for other machines.
struct overview_problem {
	const char *platform, *path, *reason;
	bool is_listed;
};

// A hold or a waiver, in words.
struct overview_rule {
	const char *id, *says;
};

// What is known of upstream, where everybody gets its files.
struct overview_upstream {
	struct overview_rule rule[OVERVIEW_RULES];
	size_t rules;
	struct upstream_health *index; // owned; their URLs are borrowed from the server
	size_t indexes, index_room;
	bool is_offline;
	uint64_t projects;     // whose pages are cached
	uint64_t files, bytes; // of the cache of files
};

struct overview_data {
	struct arena text;
	struct overview_upstream upstream; // without an index: nothing is merged, or not for this client
	struct overview_problem problem[OVERVIEW_PROBLEMS]; // by platform and path, the quarantined first
	size_t problems;
	uint64_t problem_total;
	struct overview_arrival arrival[OVERVIEW_ARRIVALS]; // the newest first
	size_t arrivals;
	struct overview_removal removal[OVERVIEW_REMOVALS]; // the same
	size_t removals;
	struct overview_old old[OVERVIEW_OLD]; // the oldest first
	size_t olds;
	uint64_t old_total; // projects without a new file for OVERVIEW_OLD_DAYS
	bool has_builds;
	struct results_attempt running[OVERVIEW_BUILDS], failing[OVERVIEW_BUILDS]; // the newest first
	size_t runnings, failings;                                                 // in these lists
	uint64_t running_total, failing_total;
	const char *plan; // its id; NULL: there is none
	int64_t plan_made;
	uint64_t plan_files, plan_bytes; // that it removes
	int64_t plan_applied;            // when it was applied last; 0: it was not
	struct overview_view *view;      // that the client may read, of which retain has decided; owned
	size_t views, view_room;
};

// readable: after readable_keep_whole(). now: seconds since 1970. Errors of the catalog and of the results. The caller
// releases *out if this returns 0.
int overview_data_read(struct server_context *s, struct catalog *c, const struct readable *readable, int64_t now,
	struct overview_data *out, struct err *e) MUST_CHECK;
void overview_data_release(struct overview_data *d); // all zero is fine; for CLEANUP
// Puts the same into an object.
void overview_json_put(const struct overview_data *d, struct jsondoc *object);

// What "/" says of a platform.
struct home_page_platform {
	struct catalog_totals totals;
	bool is_missing_known;
	uint64_t missing;        // wheels that its branches lack
	int64_t missing_counted; // when, seconds since 1970
};

struct home_page_stats {
	const struct home_page_platform *platform; // one for each of site->store.platform, in its order
	const struct overview_data *overview;
	const struct readable *readable; // what the client may read whole
	bool is_scanning;
	int64_t last_scan; // seconds since 1970; 0: none has ended yet
};

// Adds the page to out. base_url is the server's URL as the client knows
// it, such as "http://cache:8080". It may come from a Host header, so it is not trusted.
void home_page_write(const struct html_frame *frame, const struct site *s, const struct home_page_stats *stats,
	const char *base_url, struct buf *out);
// The same facts as JSON.
void home_json_write(const struct site *s, const struct home_page_stats *stats, const char *base_url, struct buf *out);

// On the event loop. 302 to the index of the view or platform; 404 where there is none, or the client may not read it.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match);

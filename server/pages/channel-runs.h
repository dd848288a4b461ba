// SPDX-License-Identifier: Apache-2.0
// The history of a view: the evidence of the last days, how many tests passed on each of them, and the generations of its
// membership. One thread fills a value; any thread may read it.
#pragma once

#include "promoter/generation-files.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/view/view.h"

enum { CHANNEL_DAYS = 60 };

struct channel_day {
	int64_t day; // its first second, UTC
	uint64_t passed, failed, skipped;
};

enum { CHANNEL_GENERATION_FILES = 100 }; // of a generation that are shown

// What a generation changed, on the platforms of the view.
struct channel_change {
	struct generation_file *file;
	size_t files;
	bool is_cut; // there are more
};

struct channel_runs {
	struct catalog_view members;  // zeros where the view has no membership
	struct catalog_evidence *run; // the newest first
	size_t runs, run_room;
	uint64_t overrides;                    // of the last days, beyond the limit too
	struct channel_day day[CHANNEL_DAYS];  // the last one is today
	struct catalog_generation *generation; // the newest first; `packed` is empty
	struct channel_change *change;         // of each generation
	size_t generations, generation_room, change_room;
	bool has_more; // runs or generations beyond the limit
};

struct channel_runs_query {
	const struct view *view; // its platforms alone
	const char *judge;       // the view for which evidence counts; NULL: any
	uint64_t limit;          // of runs and of generations
	int64_t now;             // seconds since 1970
	uint64_t counted;        // number of records that the days count, the newest first
	bool sees_names;         // else those of people and tokens, and their addresses, are ""
};

// The strings belong to the arena. Errors of the catalog. The caller releases *out if this returns 0.
int channel_runs_read(struct catalog *c, const struct channel_runs_query *query, struct arena *text,
	struct channel_runs *out, struct err *e) MUST_CHECK;
void channel_runs_release(struct channel_runs *r); // all zero is fine; for CLEANUP

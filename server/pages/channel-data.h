// SPDX-License-Identifier: Apache-2.0
// What the page of a view as a channel shows: the last version of each project in each environment, with what its tests
// say; what waits in the view's source; which versions end; the tests of the last days; the view's generations. It is
// copied out of the catalog, and names only platforms of the view. One thread fills a value; any thread may read it.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/view/view.h"
#include "promoter/generation-files.h"
#include "promoter/member-losses.h"
#include "promoter/view-channel.h"
#include "promoter/view-change.h"
#include "promoter/wheel-tests.h"
#include "server/pages/html-layout.h"
#include "server/pages/trend-picture.h"

// The history of a view: the evidence of the last days, how many tests passed on each of them, and the generations of
// its membership.
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
	struct trend_day day[TREND_DAYS];  // the last one is today
	struct catalog_generation *generation; // the newest first; `packed` is empty
	struct channel_change *change;         // of each generation
	size_t generations, generation_room, change_room;
	bool has_more; // runs or generations beyond the limit
};

// A project in an environment.
struct channel_row {
	const char *project, *platform, *python;
	enum view_channel_state state;
	const char *version;             // the newest that installs there; NULL: none
	int64_t came;                    // seconds since 1970; 0: unknown
	const char *newest;              // version of the project in the view; NULL: none
	const struct promotion_file *next; // what the tests are about: the newest of the source; NULL: none, or no tests
	struct wheel_test *test;         // of each kind
	size_t place;                    // in the order of projects and environments
};

// A version that wheelcache retain ends.
struct channel_ending {
	const char *project, *version;
	int64_t ends; // seconds since 1970; 0: at the next run
};

// A file of the source that is as new as what the view has in some environment, or newer, and is not in the view.
struct channel_waiting {
	const char *version;
	const char *project;
	const struct promotion_file *wheel;
	const char *why; // "": it can be promoted now
	bool has_left;   // it was a member; it comes back only if its version is named
};

// A member that pip takes from the view as a whole in a cell of another platform, where no tests allow it.
struct channel_untested {
	const char *project;
	const struct promotion_file *wheel;
	const char *why; // "PLATFORM/PYTHON: no evidence of kind unit"
};

struct channel_query {
	const struct site *site;
	const struct view *view;
	bool may_see_source; // the client may read the view's source
	bool sees_names;     // the client sees the names of people and tokens; else all of them are ""
	const char *project; // a glob of names in normal form; "": any
	uint64_t limit;      // of the rows of each list
	int64_t now;         // seconds since 1970
};

struct channel_data {
	struct arena text;  // of all strings
	const struct config_view *own; // its section, borrowed; NULL: none, so no rules are shown
	const char *view;   // borrowed, as the next ones
	const char *source; // its `from`; NULL: none, or the client may not read it
	const char *judge;  // the view whose `requires` the tests are held against; NULL: none
	const char **kind;  // that it requires
	size_t kinds;
	struct channel_row *row;
	size_t rows, row_room, projects, environments;
	size_t state[VIEW_CHANNEL_STATE_COUNT]; // numbers of all rows, also of those beyond the limit
	struct channel_ending *ending;          // by date
	size_t endings, ending_room;
	struct channel_waiting *waiting; // first those that can be promoted
	size_t waitings, waiting_room;
	size_t ready, left, refused; // numbers of all that wait
	struct member_losses losses; // of all projects
	const struct member_loss **lost; // those that the query wants; owned
	size_t losts, all_lost;        // all_lost: their number, also of those beyond the limit
	struct channel_untested *untested;
	size_t untesteds, untested_room, all_untested; // as all_lost
	struct view_silences silences; // what the view expects
	struct channel_runs runs;
	bool has_more; // rows of some list beyond the limit
};

// ERR_USAGE: the configuration does not name the view. Errors of the catalog; ERR_TIME: it takes too long. The caller
// releases *out if this returns 0.
int channel_data_read(struct catalog *c, const struct channel_query *query, struct channel_data *out,
	struct err *e) MUST_CHECK;
void channel_data_release(struct channel_data *d); // all zero is fine; for CLEANUP

struct channel_runs_query {
	const struct view *view; // its platforms alone
	const char *judge;       // the view for which evidence counts; NULL: any
	uint64_t limit;          // of runs and of generations
	int64_t now;             // seconds since 1970
	uint64_t counted;        // number of records that the days count, the newest first
	bool sees_names;         // else those of people and tokens, and their addresses, are ""
};

// The history alone. The strings belong to the arena. Errors of the catalog. The caller releases *out if this returns
// 0.
int channel_runs_read(struct catalog *c, const struct channel_runs_query *query, struct arena *text,
	struct channel_runs *out, struct err *e) MUST_CHECK;
void channel_runs_release(struct channel_runs *r); // all zero is fine; for CLEANUP

// Adds the page for people at /-/channel/VIEW/ to out. All text from outside is escaped. No state: any thread.
void channel_page_write(const struct html_frame *frame, const struct channel_data *data,
	const struct channel_query *query, struct buf *out);
// The same as a document, which the caller frees.
struct jsondoc *channel_json(const struct channel_data *data);

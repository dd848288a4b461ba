// SPDX-License-Identifier: Apache-2.0
// What a view shows of each project as a channel of versions: how old each version is, whether and when it ends
// ([view NAME] keep-versions, keep-days, warn-days), and which is the last one that installs in each environment. The
// command `retain` acts on it, and pages show it. It only reads. One thread at a time for each channel.
//
// A version is as old as its newest file came: in a view with a membership when it was promoted, else when it arrived
// at the index, else its time of modification. A time before there were wheels is no date.
#pragma once

#include "lib/domain/promotion/retention.h"
#include "lib/format/jsondoc.h"
#include "lib/install/fits.h"
#include "builder/missing/kept-versions.h"
#include "lib/view/view.h"

struct view_channel;

// Opens a view that the configuration names. site and catalog are borrowed. now: seconds since 1970. ERR_USAGE: the
// configuration has no such view. The caller closes *out.
int view_channel_open(const struct site *site, const struct view *v, struct catalog *c, int64_t now,
	struct view_channel **out, struct err *e) MUST_CHECK;
void view_channel_close(struct view_channel *c);    // NULL is fine
void view_channel_cleanup(struct view_channel **c); // for CLEANUP
// From now on, what the operator's lists and branches want does not end. Borrowed.
void view_channel_keep(struct view_channel *c, struct kept_versions *kept);
// Files that are missing on the disk, or are not those of the catalog, install nowhere from now on.
void view_channel_look_at_disk(struct view_channel *c);

// The Pythons of the platforms of the view.
size_t view_channel_environments(const struct view_channel *c, const struct fits_place **out);
// 1: nothing may end in this view now, and the reason is appended to why: a platform that no scan has read as a whole,
// or whose machines are unknown; a clock that cannot be right; a list or a branch that cannot be read. 0: nothing is in
// the way.
int view_channel_find_doubt(struct view_channel *c, struct buf *why, struct err *e) MUST_CHECK;

struct view_channel_file {
	const struct platform *platform;
	struct catalog_file file;
	size_t version; // which of view_channel_project
};

struct view_channel_version {
	const char *version; // normal form
	int64_t came;        // seconds since 1970: when its newest file came; 0: unknown
	bool is_yanked;      // all of its files are
	enum retention_reason decision;
	size_t environment; // of RETENTION_LAST, the first that needs it
	int64_t ends;       // when its age ends it if nothing comes, seconds since 1970; 0: never, unknown, or now
	bool is_warned;     // within warn-days
	const char *kept_by; // what wants it, whatever the decision: "branch stable pins foo==1.0 (…)"; NULL: nothing
	size_t files;
};

// How an environment is served, the worst last.
enum view_channel_state {
	VIEW_CHANNEL_CURRENT, // by the newest version
	VIEW_CHANNEL_EMPTY,   // by none
	VIEW_CHANNEL_BEHIND,  // by an older version
	VIEW_CHANNEL_STALE, // by a version that is older than keep-days, or without them not one of the newest keep-versions
	VIEW_CHANNEL_STATE_COUNT,
};
extern const char *const view_channel_state_name[VIEW_CHANNEL_STATE_COUNT]; // "current", …
extern const char *const view_channel_decision_name[]; // by enum retention_reason: "newest", "ends", …

// In one environment.
struct view_channel_cell {
	const struct view_channel_version *last; // the newest that installs; NULL: none
	enum view_channel_state state;
};

// A project. It owns all that it points to, except platforms.
struct view_channel_project {
	const char *project;
	struct view_channel_version *version; // the newest first
	size_t versions;
	struct view_channel_file *file; // by version
	size_t files;
	struct view_channel_cell *cell; // as view_channel_environments()
	enum view_channel_state state;  // the worst of all cells
	struct arena text; // of all of these
};
// A project without a file has no version. The caller releases *out if this returns 0.
int view_channel_read(struct view_channel *c, const char *project, struct view_channel_project *out,
	struct err *e) MUST_CHECK;
void view_channel_project_release(struct view_channel_project *p); // for CLEANUP

// The project as JSON: {"project", "state", "versions": [{"version", "came", "files", "yanked", "decision",
// "environment", "kept_by", "ends", "warned"}], "environments": [{"platform", "python", "version", "came", "age_days",
// "state"}]}. The caller owns it.
struct jsondoc *view_channel_project_json(const struct view_channel *c, const struct view_channel_project *p);

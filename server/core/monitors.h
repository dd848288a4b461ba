// SPDX-License-Identifier: Apache-2.0
// Watches the platforms in a thread: whether they are frozen, how much of their quotas is used, and which statuses of
// projects cannot be read. Logs changes, and
// shows the state to /-/health. While a volume hangs, the last state stays. One thread calls start and stop.
#pragma once

#include "promoter/member-losses.h"
#include "promoter/view-change.h"
#include "server/core/server-context.h"

enum { PLATFORM_MONITOR_REASON = 256 };

struct platform_monitor;

struct platform_monitor_state {
	bool is_frozen;
	char reason[PLATFORM_MONITOR_REASON]; // text of the mark, perhaps cut at its end
	unsigned quota_percent;               // quota_percent()
	unsigned statuses_damaged;            // project_status_damages()
	char status_error[ERR_MSG_SIZE];      // of the first of these
};

// s is borrowed until the stop.
struct platform_monitor *platform_monitor_start(struct server_context *s);
void platform_monitor_stop(struct platform_monitor *m); // NULL is fine
// The last state of a platform; false: not checked yet. Any thread. Does not wait for volumes.
bool platform_monitor_get(struct platform_monitor *m, const char *platform, struct platform_monitor_state *out);

// Looks in a thread of its own, every few seconds, for pipelines that stopped reporting (promoter/view-change.h) and
// for members of views that the store has lost (promoter/member-losses.h), and tells of them by the view's on-change.
// What it finds is in the catalog, for the page and the metrics, and here, for /-/health. It begins when the store has
// been indexed, since a new catalog knows of no record and of no file before.

struct view_monitor;

struct view_monitor *view_monitor_start(struct server_context *s);
void view_monitor_stop(struct view_monitor *m); // NULL is fine
// Calls fn for each expectation of the view that was silent at the last look. Any thread, as for the others; fn takes
// no lock. m: NULL is fine.
typedef void view_monitor_silence_fn(void *ctx, const struct view_silence *s);
void view_monitor_silences(struct view_monitor *m, const char *view, view_monitor_silence_fn *fn, void *ctx);
// Calls fn for the first members, at most `most` (0: fn may be NULL), that were lost at the last look. Returns the
// number of all.
typedef void view_monitor_loss_fn(void *ctx, const struct member_loss *l);
size_t view_monitor_losses(struct view_monitor *m, const char *view, size_t most, view_monitor_loss_fn *fn, void *ctx);

// Looks in a thread of its own whether sources of block lists have changed, and reads them again (lib/advisories).
// Pages follow at once.

struct advisory_monitor;

struct advisory_monitor *advisory_monitor_start(struct server_context *s);
void advisory_monitor_hurry(struct advisory_monitor *m); // looks now: the lists are others
void advisory_monitor_stop(struct advisory_monitor *m);  // NULL is fine

// Schedules the release of platforms (lib/state/store/volume-release.h) after writes by any process of this machine:
// some seconds after the first change, one release for all changes, and again with growing pauses where it fails. Each
// platform has a thread, so that a release that hangs delays no other one. Reports to the log, the audit log and
// /-/health.
//
// One thread calls start, update and stop.

struct release_scheduler;

enum { RELEASE_SCHEDULER_ERROR = ERR_MSG_SIZE };

struct release_scheduler_state {
	bool is_running;
	unsigned failures;                   // since the last success
	char error[RELEASE_SCHEDULER_ERROR]; // of the last failure
	int64_t pending_since;               // seconds since 1970; 0: no release is pending
	int64_t succeeded;                   // seconds since 1970, of the last success; 0: none since the start
};

// Also releases what was pending when the last server ended. s is borrowed until the stop.
struct release_scheduler *release_scheduler_start(struct server_context *s);
// Adds the platforms of a new site, after a reload.
void release_scheduler_update(struct release_scheduler *r);
// Waits some seconds for a release under way. Pending releases stay recorded. NULL is fine.
void release_scheduler_stop(struct release_scheduler *r);
// False for a platform without release. Any thread. Does not wait for releases.
bool release_scheduler_get(struct release_scheduler *r, const struct platform *p, struct release_scheduler_state *out);

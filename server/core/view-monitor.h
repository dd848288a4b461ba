// SPDX-License-Identifier: Apache-2.0
// Looks in a thread of its own, every few seconds, for pipelines that stopped reporting (promoter/view-change.h) and
// for members of views that the store has lost (promoter/member-losses.h), and tells of them by the view's on-change.
// What it finds is in the catalog, for the page and the metrics, and here, for /-/health. It begins when the store has been
// indexed, since a new catalog knows of no record and of no file before.
#pragma once

#include "promoter/member-losses.h"
#include "promoter/view-change.h"
#include "server/core/server-context.h"

struct view_monitor;

struct view_monitor *view_monitor_start(struct server_context *s);
void view_monitor_stop(struct view_monitor *m); // NULL is fine
// Calls fn for each expectation of the view that was silent at the last look. Any thread, as for the others; fn takes no
// lock. m: NULL is fine.
typedef void view_monitor_silence_fn(void *ctx, const struct view_silence *s);
void view_monitor_silences(struct view_monitor *m, const char *view, view_monitor_silence_fn *fn, void *ctx);
// Calls fn for the first members, at most `most` (0: fn may be NULL), that were lost at the last look. Returns the number of
// all.
typedef void view_monitor_loss_fn(void *ctx, const struct member_loss *l);
size_t view_monitor_losses(struct view_monitor *m, const char *view, size_t most, view_monitor_loss_fn *fn, void *ctx);

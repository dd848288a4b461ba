// SPDX-License-Identifier: Apache-2.0
// Looks in a thread of its own, every few seconds, for pipelines that stopped reporting (lib/promotion/view-silence.h),
// and tells of them by the view's on-change. What it finds is in the catalog, for the page and the metrics, and here, for
// /-/health. It begins when the store has been indexed, since a new catalog knows of no record before.
#pragma once

#include "lib/promotion/view-silence.h"
#include "server/core/server-context.h"

struct silence_monitor;

struct silence_monitor *silence_monitor_start(struct server_context *s);
void silence_monitor_stop(struct silence_monitor *m); // NULL is fine
// Calls fn for each expectation of the view that was silent at the last look. Any thread; fn holds no lock of its own.
typedef void silence_monitor_fn(void *ctx, const struct view_silence *s);
void silence_monitor_each(struct silence_monitor *m, const char *view, silence_monitor_fn *fn, void *ctx);

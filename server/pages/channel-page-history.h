// SPDX-License-Identifier: Apache-2.0
// The parts of the page of a channel that tell its history: tests by day, evidence, generations. Pure; any thread.
#pragma once

#include "server/pages/channel-runs.h"

// Adds them to out. view: its name. sees_names: else there are no columns for those who sent and promoted.
void channel_page_history(const struct channel_runs *runs, const char *view, bool sees_names,
	struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// The parts of the page of a channel that tell its history: tests by day, evidence, generations. Pure; any thread.
#pragma once

#include "server/handlers/channel-runs.h"

// Adds them to out. view: its name.
void channel_page_history(const struct channel_runs *runs, const char *view, struct buf *out);

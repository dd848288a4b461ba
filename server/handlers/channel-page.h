// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at /-/channel/VIEW/. It loads nothing else and has no script. All text from outside is
// escaped. No state: any thread.
#pragma once

#include "server/handlers/channel-data.h"

// For the header Content-Security-Policy. No script may run.
extern const char channel_page_policy[];

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling.
int channel_page_write(const struct channel_data *data, const struct channel_query *query, struct buf *out,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at /-/channel/VIEW/. All text from outside is
// escaped. No state: any thread.
#pragma once

#include "server/pages/channel-data.h"
#include "server/pages/html-layout.h"

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling.
int channel_page_write(const struct html_frame *frame, const struct channel_data *data,
	const struct channel_query *query, struct buf *out, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at /-/channel/VIEW/. All text from outside is
// escaped. No state: any thread.
#pragma once

#include "server/pages/channel-data.h"
#include "server/pages/html-layout.h"

// Adds the page to out.
void channel_page_write(const struct html_frame *frame, const struct channel_data *data,
	const struct channel_query *query, struct buf *out);
// The same as a document, which the caller frees.
struct jsondoc *channel_json(const struct channel_data *data);

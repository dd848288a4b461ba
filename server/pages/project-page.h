// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at /-/project/NAME. All text from outside is escaped. No state: any thread.
#pragma once

#include "server/pages/html-layout.h"
#include "server/pages/project-data.h"

// Adds the page to out.
void project_page_write(const struct html_frame *frame, const struct project_data *data,
	const struct project_query *query, struct buf *out);

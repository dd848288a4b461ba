// SPDX-License-Identifier: Apache-2.0
// What the page of a project shows, as JSON; wheelcache(1) has the keys. No state: any thread.
#pragma once

#include "server/pages/project-data.h"

// Adds the document to out; ERR_LIMIT if it is larger than out's ceiling.
int project_json_write(const struct project_data *data, const struct project_query *query, struct buf *out,
	struct err *e) MUST_CHECK;

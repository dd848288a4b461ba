// SPDX-License-Identifier: Apache-2.0
// Writes the page of the last plan of a prune, or what it says as JSON: who applied it and when, else the command that
// applies it, sums by platform and verdict, the files, searchable and in pages, with what has changed since, and what
// the plan before said otherwise. Nothing is written. It shows only the platforms of the query, so the caller omits
// those that the client may not read. One thread for each catalog.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/view/view.h"
#include "server/pages/html-layout.h"
#include "server/pages/plan-page-query.h"

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling, and the catalog's errors. If there is no plan,
// the page says how to make one.
int plan_page_write(const struct html_frame *frame, struct catalog *c, const struct plan_page_query *query,
	struct buf *out, struct err *e) MUST_CHECK;
// plan-json.c: the same in short, without the files: "plan" is null if there is none.
int plan_json_write(struct catalog *c, const struct plan_page_query *query, struct buf *out, struct err *e) MUST_CHECK;

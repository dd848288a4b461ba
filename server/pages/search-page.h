// SPDX-License-Identifier: Apache-2.0
// The page of a search. No state: any thread. out's ceiling limits what is added.
#pragma once

#include "lib/base/buf.h"
#include "server/pages/html-layout.h"
#include "server/pages/search-data.h"

struct search_page_query {
	const char *typed; // as the client sent it: not trusted
	const struct name_query *name;
};
void search_page_write(const struct html_frame *frame, const struct search_page_query *q, const struct search_data *d,
	struct buf *out);

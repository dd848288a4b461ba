// SPDX-License-Identifier: Apache-2.0
// The forms of /-/coverage: a page for people, JSON, CSV. No state: any thread. out's ceiling limits what is added; then
// ERR_LIMIT.
#pragma once

#include "server/pages/coverage-data.h"
#include "server/pages/html-layout.h"

int coverage_page_write(const struct html_frame *frame, const struct coverage_query *q, const struct coverage_data *d,
	struct buf *out, struct err *e) MUST_CHECK;
int coverage_json_write(const struct coverage_query *q, const struct coverage_data *d, struct buf *out,
	struct err *e) MUST_CHECK;
int coverage_csv_write(const struct coverage_data *d, struct buf *out, struct err *e) MUST_CHECK;

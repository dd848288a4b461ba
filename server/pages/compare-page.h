// SPDX-License-Identifier: Apache-2.0
// The page of a comparison, for people: of /-/compare/ and of wheelcache compare --html. No state: any thread.
#pragma once

#include "lib/base/buf.h"
#include "auditor/compare/report-sheet.h"
#include "server/pages/html-layout.h"

// Adds the page to out, up to its ceiling. links: HTML for the last line.
void compare_page_write(const struct html_frame *frame, const struct report_sheet *sheet, const char *links,
	struct buf *out);

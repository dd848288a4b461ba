// SPDX-License-Identifier: Apache-2.0
// The page of a comparison, for people: of /-/compare/ and of wheelcache compare --html. No state: any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/compare/report-sheet.h"

// Adds the page to out, up to its ceiling. links: HTML for the last line; NULL: a page of its own, without links.
void compare_page_write(const struct report_sheet *sheet, const char *links, struct buf *out);

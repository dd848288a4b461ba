// SPDX-License-Identifier: Apache-2.0
#include "server/pages/compare-page.h"

#include "server/pages/html-layout.h"

void compare_page_write(const struct html_frame *frame, const struct report_sheet *sheet, const char *links,
	struct buf *out)
{
	html_begin(out, frame, sheet->title, sheet->words);
	buf_puts(out, "</header>\n");
	report_sheet_html(sheet, out);
	html_end(out, links);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/pages/explain-page-losses.h"

#include <inttypes.h>

#include "lib/format/escape.h"
#include "server/pages/html-layout.h"

static void put_text_after(struct buf *out, const char *words, const char *text)
{
	if (!text || !*text)
		return;
	buf_puts(out, words);
	html_text(out, text);
}

static void put_loss(struct buf *out, const struct jsondoc *loss, const char *up)
{
	const char *view = jsondoc_get_str(loss, "view"), *since = jsondoc_get_str(loss, "since");
	int64_t generation = 0;
	jsondoc_get_int(loss, "generation", &generation);
	buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
	html_text(out, jsondoc_get_str(loss, "filename"));
	buf_puts(out, "</th><td>");
	html_text(out, jsondoc_get_str(loss, "platform"));
	buf_printf(out, "</td><td><a href=\"%s/channel/", up);
	escape_url(out, str_from(view));
	buf_puts(out, "/\">");
	html_text(out, view);
	buf_printf(out, "</a>, generation %" PRId64 "</td><td>%.16s</td><td class=\"why full\">", generation,
		since ? since : "");
	html_text(out, jsondoc_get_str(loss, "why"));
	put_text_after(out, ", by ", jsondoc_get_str(loss, "by"));
	put_text_after(out, ": ", jsondoc_get_str(loss, "reason"));
	put_text_after(out, ". What to do: ", jsondoc_get_str(loss, "advice"));
	buf_puts(out, "</td></tr>\n");
}

void explain_page_lost_state(const struct jsondoc *lost, struct buf *out)
{
	if (!lost || !jsondoc_count(lost))
		return;
	buf_puts(out, "<span class=\"state wrong\">");
	html_count(out, jsondoc_count(lost));
	buf_puts(out, " lost</span>\n");
}

void explain_page_losses(const struct jsondoc *lost, const char *up, struct buf *out)
{
	static const char *const column[] = {"File", "Platform", "Member of", "Lost since", "Why"};
	if (!lost || !jsondoc_count(lost))
		return;
	buf_puts(out, "<h2>Lost</h2>\n<p class=\"note\">Released files that the store no longer has: clients of these views "
		      "find no such file.</p>\n");
	html_begin_table(out, "Lost files", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < jsondoc_count(lost); i++)
		put_loss(out, jsondoc_at(lost, i), up);
	html_end_table(out);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/pages/losses.h"

#include <inttypes.h>

#include "lib/format/escape.h"
#include "server/pages/html-layout.h"

static void put_text_after(struct buf *out, const char *words, const char *text)
{
	if (!text || !*text)
		return;
	html_put(out, "%h%s", words, text);
}

static void put_loss(struct buf *out, const struct jsondoc *loss, const char *up)
{
	const char *view = jsondoc_get_str(loss, "view"), *since = jsondoc_get_str(loss, "since");
	int64_t generation = 0;
	jsondoc_get_int(loss, "generation", &generation);
	html_put(out, "<tr><th scope=\"row\" class=\"file\">%s</th><td>%s</td><td><a href=\"%h/channel/%u/\">%s",
		jsondoc_get_str(loss, "filename"), jsondoc_get_str(loss, "platform"), up, view, view);
	buf_printf(out, "</a>, generation %" PRId64 "</td><td>%.16s</td><td class=\"why full\">", generation,
		since ? since : "");
	html_text(out, jsondoc_get_str(loss, "why"));
	put_text_after(out, ", by ", jsondoc_get_str(loss, "by"));
	put_text_after(out, ": ", jsondoc_get_str(loss, "reason"));
	put_text_after(out, ". What to do: ", jsondoc_get_str(loss, "advice"));
	buf_puts(out, "</td></tr>\n");
}

void losses_state(const struct jsondoc *lost, struct buf *out)
{
	if (!lost || !jsondoc_count(lost))
		return;
	html_put(out, "<span class=\"state wrong\">%n lost</span>\n", jsondoc_count(lost));
}

void losses_table(const struct jsondoc *lost, const char *up, struct buf *out)
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

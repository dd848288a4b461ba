// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-plan-change.h"
#include "server/pages/plan-page-parts.h"

enum { CHANGES_SHOWN = 100 };

static int put_change(void *ctx, const struct catalog_plan_change *x, struct err *e UNUSED)
{
	struct plan_page_writer *w = ctx;
	static const char *const words[2][2] = {{"", "removed now"}, {"no longer removed", "another reason"}};
	const char *platform = plan_page_platform(w, x->platform);
	if (!w->changes++) {
		static const char *const column[] = {"File", "Platform", "Change", "Before", "Now", "Size"};
		html_begin_table(w->out, "Since the plan before", "card wide", column, ARRAY_SIZE(column));
	}
	buf_puts(w->out, "<tr><th scope=\"row\" class=\"file\">");
	html_text(w->out, x->filename);
	buf_puts(w->out, "</th><td class=\"name\">");
	html_text(w->out, platform);
	buf_printf(w->out, "</td><td><span class=\"verdict%s\">%s</span></td><td>",
		x->removes && !x->removed ? " goes"
		: !x->removes             ? " good"
					  : "",
		words[x->removed][x->removes]);
	html_text(w->out, x->before ? x->before : "was not there");
	buf_puts(w->out, "</td><td>");
	html_text(w->out, x->verdict ? x->verdict : "is gone");
	buf_puts(w->out, "</td><td class=\"n\" data-of=\"\">");
	html_size(w->out, x->size);
	buf_puts(w->out, "</td></tr>\n");
	return 0;
}

int plan_page_put_changes(struct plan_page_writer *w, struct err *e)
{
	struct err why = ERR_INIT;
	int64_t made;
	CLEANUP(buf_release) struct buf former;
	buf_init(&former, LIMIT_WORDS);
	if (catalog_plan_former(w->catalog, &former, &made, &why) < 0) {
		if (why.kind != ERR_NOT_FOUND)
			*e = why;
		return why.kind == ERR_NOT_FOUND ? 0 : -1;
	}
	buf_puts(w->out, "<h2>Since the plan before, of ");
	html_time(w->out, made);
	buf_puts(w->out, "</h2>\n");
	for (size_t i = 0; i < w->query->platforms; i++)
		if (plan_page_is_selected(w, w->query->platform[i]) && w->changes < CHANGES_SHOWN &&
			catalog_plan_changes_list(w->catalog, w->query->platform[i]->id, CHANGES_SHOWN - w->changes,
				put_change, w, e) < 0)
			return -1;
	if (w->changes)
		html_end_table(w->out);
	if (!w->changes)
		buf_puts(w->out, "<p class=\"note\">It removes the same files.</p>\n");
	else if (w->changes == CHANGES_SHOWN)
		buf_printf(w->out, "<p class=\"note\">These are the first %d.</p>\n", CHANGES_SHOWN);
	return 0;
}

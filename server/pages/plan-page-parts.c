// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-page-parts.h"

#include <inttypes.h>
#include <string.h>

#include "lib/format/escape.h"

const char *const plan_page_verdict[PLAN_PAGE_VERDICTS] = {
	"duplicate", "superseded", "pure", "off-list", "unusable", "corrupt", "keep"};

void plan_page_begin_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text,
	uint64_t page)
{
	CLEANUP(buf_release) struct buf chosen;
	buf_init(&chosen, LIMIT_REQUEST_HEADER);
	plan_choice_write(&w->choice, NULL, &chosen);
	const char *const part[][2] = {
		{"platform", platform}, {"q", text}, {"x", chosen.data}, {"plan", w->choice.count ? w->id : ""}};
	buf_puts(w->out, "<a href=\"./?verdict=");
	escape_url(w->out, str_from(verdict));
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		buf_printf(w->out, "&amp;%s=", part[i][0]);
		escape_url(w->out, str_from(part[i][1]));
	}
	if (page > 1)
		buf_printf(w->out, "&amp;page=%" PRIu64, page);
	buf_puts(w->out, "\">");
}

void plan_page_put_hidden(struct plan_page_writer *w, const char *name, const char *value)
{
	buf_printf(w->out, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	html_text(w->out, value);
	buf_puts(w->out, "\">");
}

void plan_page_put_choice(struct plan_page_writer *w, const struct plan_rows *rows)
{
	CLEANUP(buf_release) struct buf chosen;
	buf_init(&chosen, LIMIT_REQUEST_HEADER);
	plan_choice_write(&w->choice, rows, &chosen);
	if (chosen.len)
		plan_page_put_hidden(w, "x", chosen.data);
	if (chosen.len || rows)
		plan_page_put_hidden(w, "plan", w->id);
}

const char *plan_page_platform(const struct plan_page_writer *w, int64_t id)
{
	for (size_t i = 0; i < w->query->platforms; i++)
		if (w->query->platform[i]->id == id)
			return w->query->platform[i]->name;
	return "";
}

bool plan_page_is_selected(const struct plan_page_writer *w, const struct platform *p)
{
	return !*w->query->only || strcmp(w->query->only, p->name) == 0;
}

int plan_page_collect(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	struct plan_page_collector *x = ctx;
	for (size_t i = 0; i < x->query->platforms; i++)
		if (x->query->platform[i]->id == f->platform)
			plan_rows_add(x->rows, f, x->query->platform[i]);
	return 0;
}

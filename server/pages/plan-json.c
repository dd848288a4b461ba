// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/state/catalog/catalog-plan.h"
#include "server/pages/plan-applied.h"
#include "server/pages/plan-page.h"

static bool is_platform_asked_for(const struct plan_page_query *q, const char *platform)
{
	for (size_t i = 0; platform && i < q->platforms; i++)
		if (strcmp(q->platform[i]->name, platform) == 0 && (!*q->only || strcmp(q->only, platform) == 0))
			return true;
	return false;
}

// The totals of the platforms that the client may read.
static struct jsondoc *readable_totals_json(const struct plan_page_query *q, const struct jsondoc *totals)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
		const struct jsondoc *row = jsondoc_at(totals, i);
		const char *platform = jsondoc_get_str(row, "platform");
		int64_t files = 0, bytes = 0;
		if (!is_platform_asked_for(q, platform) || !jsondoc_get_int(row, "files", &files) ||
			!jsondoc_get_int(row, "bytes", &bytes))
			continue;
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", platform);
		jsondoc_put_str(one, "verdict", jsondoc_get_str(row, "verdict"));
		jsondoc_put_str(one, "why", jsondoc_get_str(row, "why"));
		jsondoc_put_bool(one, "removes", jsondoc_is_true(row, "removes"));
		jsondoc_put_int(one, "files", files);
		jsondoc_put_int(one, "bytes", bytes);
		jsondoc_add(list, one);
	}
	return list;
}

// 1: there is no plan.
static int read_last_plan(struct catalog *c, struct buf *id, int64_t *made, struct jsondoc **head, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_PAGE);
	if (catalog_plan_last(c, id, made, &text, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 1;
		*e = why;
		return -1;
	}
	*head = jsondoc_read(buf_view(&text), e);
	return *head ? 0 : -1;
}

int plan_json_write(struct catalog *c, const struct plan_page_query *q, struct buf *out, struct err *e)
{
	int64_t made = 0;
	CLEANUP(buf_release) struct buf id;
	CLEANUP(jsondoc_cleanup) struct jsondoc *head = NULL;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(plan_applied_release) struct plan_applied applied = {0};
	buf_init(&id, LIMIT_WORDS);
	int none = read_last_plan(c, &id, &made, &head, e);
	if (none < 0 || (!none && plan_applied_read(c, q->platform, q->platforms, q->named, id.data, head, &applied, e) < 0))
		return -1;
	jsondoc_put_str(doc, "plan", none ? NULL : id.data);
	if (!none) {
		jsondoc_put_time(doc, "made", made);
		if (applied.files)
			jsondoc_put(doc, "applied", plan_applied_json(&applied));
		else
			jsondoc_put_str(doc, "applied", NULL);
		jsondoc_put(doc, "totals", readable_totals_json(q, jsondoc_get(head, "totals")));
	}
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the plan as JSON: larger than %zu bytes", out->cap) : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/api/promote-document.h"

#include "lib/base/limits.h"
#include "server/api/json-post.h"

const char *const promote_document_keys[] = {
	"select", "from", "evidence", "reason", "override", "all_or_nothing", "dry_run", "newest", NULL};

static int read_promotion(struct promote_document *d, struct err *e)
{
	struct promote_request *r = &d->request;
	const struct posted_object p = {"promotion", d->json};
	if (posted_object_select(&p, LIMIT_PROMOTE_SELECTS, &d->arena, &r->select, &r->selects, e) < 0)
		return -1;
	const struct jsondoc *list;
	if (posted_object_list(&p, "evidence", LIMIT_PROMOTE_EVIDENCE, &list, e) < 0)
		return -1;
	size_t count = list ? jsondoc_count(list) : 0;
	d->evidence = ARENA_NEW(&d->arena, struct evidence, count);
	d->bytes = ARENA_NEW(&d->arena, size_t, count);
	d->request.evidence = d->evidence;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EVIDENCE);
		jsondoc_write(jsondoc_at(list, i), 0, &text);
		if (evidence_read(buf_view(&text), &d->evidence[i], e) < 0)
			return err_prefix(e, "promotion: evidence[%zu]: ", i);
		d->bytes[i] = text.len;
		d->request.evidences++;
	}
	if (posted_object_line(&p, "from", LIMIT_FILE_NAME, &r->from, e) < 0 ||
		posted_object_line(&p, "reason", LIMIT_REASON, &r->reason, e) < 0 ||
		posted_object_line(&p, "override", LIMIT_REASON, &r->override, e) < 0 ||
		posted_object_flag(&p, "all_or_nothing", &r->all_or_nothing, e) < 0 ||
		posted_object_flag(&p, "newest", &r->newest, e) < 0)
		return -1;
	return posted_object_flag(&p, "dry_run", &r->dry_run, e);
}

int promote_document_read(struct str text, struct promote_document *out, struct err *e)
{
	*out = (struct promote_document){.request = {.reason = ""}};
	out->json = jsondoc_read(text, e);
	return out->json ? read_promotion(out, e) : -1;
}

unsigned promote_document_tries(size_t refused)
{
	size_t tries = refused ? refused / LIMIT_PROMOTE_REFUSED : LIMIT_PROMOTE_COST;
	return tries < LIMIT_EVIDENCE_AT_ONCE ? (unsigned)tries : LIMIT_EVIDENCE_AT_ONCE;
}

void promote_document_release(struct promote_document *d)
{
	for (size_t i = 0; i < d->request.evidences; i++)
		evidence_release(&d->evidence[i]);
	arena_release(&d->arena);
	jsondoc_cleanup(&d->json);
}

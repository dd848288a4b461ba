// SPDX-License-Identifier: Apache-2.0
#include "server/api/promote-document.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "server/api/posted-object.h"

const char *const promote_document_keys[] = {
	"select", "from", "evidence", "reason", "override", "all_or_nothing", "dry_run", "newest", NULL};

static int read_selects(const struct posted_object *p, struct promote_document *d, struct err *e)
{
	int result = posted_object_select(p, LIMIT_PROMOTE_SELECTS, &d->select, &d->request.selects, e);
	d->request.select = d->select;
	return result;
}

static int read_given_evidence(const struct posted_object *p, struct promote_document *d, struct err *e)
{
	const struct jsondoc *list;
	if (posted_object_list(p, "evidence", LIMIT_PROMOTE_EVIDENCE, &list, e) < 0)
		return -1;
	size_t count = list ? jsondoc_count(list) : 0;
	d->evidence = xcalloc(count + 1, sizeof(*d->evidence));
	d->bytes = xcalloc(count + 1, sizeof(*d->bytes));
	d->request.evidence = d->evidence;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_EVIDENCE);
		jsondoc_write(jsondoc_at(list, i), 0, &text);
		if (evidence_read(buf_view(&text), &d->evidence[i], e) < 0)
			return err_prefix(e, "promotion: evidence[%zu]: ", i);
		d->bytes[i] = text.len;
		d->request.evidences++;
	}
	return 0;
}

static int read_promotion(struct promote_document *d, struct err *e)
{
	struct promote_request *r = &d->request;
	const struct posted_object p = {"promotion", d->json};
	if (read_selects(&p, d, e) < 0 || read_given_evidence(&p, d, e) < 0 ||
		posted_object_line(&p, "from", LIMIT_FILE_NAME, &r->from, e) < 0 ||
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
	free(d->select);
	free(d->evidence);
	free(d->bytes);
	jsondoc_cleanup(&d->json);
}

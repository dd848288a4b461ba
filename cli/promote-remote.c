// SPDX-License-Identifier: Apache-2.0
#include "cli/promote-remote.h"

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/jsondoc.h"

static void put_selection(struct jsondoc *doc, const struct promote_request *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->selects; i++)
		jsondoc_add_str(list, r->select[i]);
	if (r->selects)
		jsondoc_put(doc, "select", list);
	else
		jsondoc_cleanup(&list);
}

static int put_records(struct jsondoc *doc, const struct promote_request *r, struct err *e)
{
	struct jsondoc *list = jsondoc_array();
	jsondoc_put(doc, "evidence", list); // may be empty, and needs no right then
	for (size_t i = 0; i < r->evidences; i++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_EVIDENCE);
		evidence_write(&r->evidence[i], &text);
		struct jsondoc *one = jsondoc_read(buf_view(&text), e);
		if (!one)
			return -1;
		jsondoc_add(list, one);
	}
	return 0;
}

static int write_promotion(const struct promote_request *r, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	put_selection(doc, r);
	if (put_records(doc, r, e) < 0)
		return -1;
	const char *const texts[][2] = {{"from", r->from}, {"reason", r->reason}, {"override", r->override}};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i][1] && *texts[i][1])
			jsondoc_put_str(doc, texts[i][0], texts[i][1]);
	jsondoc_put_bool(doc, "all_or_nothing", r->all_or_nothing);
	jsondoc_put_bool(doc, "newest", r->newest);
	jsondoc_put_bool(doc, "dry_run", r->dry_run);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the promotion has more than %d bytes", LIMIT_EVIDENCE) : 0;
}

// 409: something was refused, as the answer says, or another conflict.
static int read_promotion(const struct record_sender *s, const struct fetch_answer *a,
	const struct upload_client_answer *answer, struct promote_answer *out, struct err *e)
{
	struct err why = ERR_INIT;
	if (answer->status != 200 && answer->status != 409)
		return record_sender_refused(answer, ERR_USAGE, e); // 404: there is no such view
	if (promote_answer_read(buf_view(&a->body), out, &why) < 0)
		return answer->status == 409 ? err_set(e, ERR_NET, "%s", answer->why.msg)
					     : err_set(e, ERR_NET, "%s: %s", s->url, why.msg);
	return 0;
}

int promote_remote(struct record_sender *s, const struct promote_request *r, struct promote_answer *out, struct err *e)
{
	CLEANUP(buf_release) struct buf document;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	*out = (struct promote_answer){0};
	buf_init(&document, LIMIT_EVIDENCE);
	fetch_answer_init(&a, LIMIT_PROMOTE_ANSWER);
	if (!platform_name_is_valid(str_from(r->to)))
		return err_set(e, ERR_USAGE, "--to: \"%s\" is no name of a view", r->to);
	CLEANUP(mem_free) char *route = xasprintf("-/promote/%s", r->to);
	if (write_promotion(r, &document, e) < 0 ||
		record_sender_exchange(s, route, buf_view(&document), &a, &answer, e) < 0)
		return -1;
	return read_promotion(s, &a, &answer, out, e);
}

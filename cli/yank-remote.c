// SPDX-License-Identifier: Apache-2.0
#include "cli/yank-remote.h"

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

static int write_order(const struct yank_order *order, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *list = jsondoc_array();
	jsondoc_add_str(list, order->word);
	jsondoc_put(doc, "select", list);
	if (order->platform)
		jsondoc_put_str(doc, "platform", order->platform);
	if (order->reason)
		jsondoc_put_str(doc, "reason", order->reason);
	jsondoc_put_bool(doc, "undo", order->undo);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the request has more than %d bytes", LIMIT_YANK) : 0;
}

static enum err_kind kind_of_refusal(unsigned status)
{
	switch (status) {
	case 400:
		return ERR_USAGE;
	case 401:
	case 403:
		return ERR_DENIED;
	case 404:
		return ERR_NOT_FOUND;
	default:
		return ERR_NET;
	}
}

static int refuse_answer(struct err *e)
{
	return err_set(e, ERR_NET, "it is no answer to a yank");
}

static int read_yanked_files(const struct jsondoc *doc, yank_remote_fn *fn, void *ctx, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "files");
	if (!list || !jsondoc_count(list))
		return refuse_answer(e);
	for (size_t i = 0; i < jsondoc_count(list); i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		const char *platform = jsondoc_get_str(one, "platform"), *filename = jsondoc_get_str(one, "filename");
		if (!platform || !filename)
			return refuse_answer(e);
		fn(ctx, platform, filename, jsondoc_is_true(one, "waits_for_release"));
	}
	return 0;
}

static int read_answer(const struct record_sender *s, struct str body, yank_remote_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(body, LIMIT_CLIENT_VALUES, e);
	if (doc && read_yanked_files(doc, fn, ctx, e) == 0)
		return 0;
	e->kind = ERR_NET;
	return err_prefix(e, "%s: ", s->url);
}

int yank_remote(struct record_sender *s, const struct yank_order *order, yank_remote_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(buf_release) struct buf document;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	buf_init(&document, LIMIT_YANK);
	fetch_answer_init(&a, LIMIT_YANK_ANSWER);
	if (write_order(order, &document, e) < 0 ||
		record_sender_exchange(s, "-/yank/", buf_view(&document), &a, &answer, e) < 0)
		return -1;
	if (answer.status != 200)
		return err_set(e, kind_of_refusal(answer.status), "%s", answer.why.msg);
	return read_answer(s, buf_view(&a.body), fn, ctx, e);
}

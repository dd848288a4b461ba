// SPDX-License-Identifier: Apache-2.0
#include "builder/result-sender.h"

#include <stdlib.h>
#include <string.h>

#include "builder/server-answer.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/format/jsondoc.h"
#include "lib/state/results/results-json.h"

enum { SENT_LOG = 3 << 20 }; // bytes of a log that is cut: JSON has six for one at most

struct result_sender {
	char *url;
	const char *platform;
	struct fetch *fetch;
	struct results *results;
	bool is_told;   // the last failure is logged
	bool is_closed; // the server takes no results: none is sent any more in this run
	bool is_away;   // it did not answer the last time
};

struct result_sender *result_sender_new(const char *base, const char *platform, const struct fetch_options *options,
	struct results *results)
{
	struct result_sender *s = xcalloc(1, sizeof(*s));
	s->url = xasprintf("%s-/builds/%s/", base, platform);
	s->platform = platform;
	s->fetch = fetch_new(options);
	s->results = results;
	return s;
}

void result_sender_free(struct result_sender *s)
{
	if (!s)
		return;
	fetch_free(s->fetch);
	free(s->url);
	free(s);
}

void result_sender_cleanup(struct result_sender **s)
{
	result_sender_free(*s);
}

static int print_attempt(void *ctx, const struct results_attempt *a, struct err *e)
{
	struct jsondoc **out = ctx;
	if (a->result == RESULTS_RUNNING)
		return err_set(e, ERR_BUSY, "attempt %s has not ended", a->id);
	*out = results_json(a);
	return 0;
}

// A log that is longer than a server takes: its end, where builds say why they failed.
static void put_end_of_log(struct jsondoc *doc, struct str log)
{
	CLEANUP(buf_release) struct buf end;
	buf_init(&end, SENT_LOG + LIMIT_NOTE);
	buf_puts(&end, "--- The beginning of this log is in the builder's own file of results. ---\n");
	buf_str(&end, str_slice(log, log.len - SENT_LOG, log.len));
	results_json_put_log(doc, buf_view(&end));
}

// The attempt as JSON with its log.
static int print_body(struct result_sender *s, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	struct err ignored = ERR_INIT;
	if (results_find(s->results, id, print_attempt, &doc, e) < 0)
		return -1;
	CLEANUP(buf_release) struct buf log;
	buf_init(&log, LIMIT_RESULT_LOG);
	if (results_log(s->results, id, &log, &ignored) == 0)
		results_json_put_log(doc, buf_view(&log));
	jsondoc_write(doc, 0, out);
	if (out->len > LIMIT_RESULT_DOCUMENT && log.len > SENT_LOG) {
		buf_clear(out);
		put_end_of_log(doc, buf_view(&log));
		jsondoc_write(doc, 0, out);
	}
	return out->failed ? err_set(e, ERR_LIMIT, "the result of attempt %s is too long", id) : 0;
}

static int post_body(struct result_sender *s, struct str body, struct err *e)
{
	static const char *const headers[] = {"Content-Type: application/json", "Accept: text/plain", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_ANSWER);
	if (fetch_post_body(s->fetch, s->url, headers, body, &a, e) < 0)
		return -1;
	return server_answer_check(&a, s->url, e);
}

static int post_attempt(struct result_sender *s, const char *id, struct err *e)
{
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, SIZE_MAX / 2);
	return print_body(s, id, &body, e) < 0 ? -1 : post_body(s, buf_view(&body), e);
}

// The server checks the token before it reads the document, which is not valid.
int result_sender_probe(struct result_sender *s, struct err *e)
{
	struct err why = ERR_INIT;
	if (post_body(s, STR("{}"), &why) == 0 || why.kind != ERR_DENIED)
		return 0;
	*e = why;
	return -1;
}

// A server without this route or right takes no result; one that is away takes them later.
static void note_unsent(struct result_sender *s, const struct err *why)
{
	static const char *const closed = "the server takes no results; they stay in this builder's file";
	s->is_closed = why->kind == ERR_DENIED || why->kind == ERR_NOT_FOUND;
	s->is_away = why->kind == ERR_NET;
	if (!s->is_told)
		log_warn("%s: %s", s->is_closed ? closed : "a result could not be sent, and is sent again", why->msg);
	s->is_told = true;
}

static bool send_attempt(struct result_sender *s, const char *id)
{
	struct err e = ERR_INIT;
	if (s->is_closed)
		return false;
	if (post_attempt(s, id, &e) < 0 || results_mark_sent(s->results, id, &e) < 0) {
		note_unsent(s, &e);
		return false;
	}
	s->is_told = s->is_away = false;
	return true;
}

void result_sender_send(struct result_sender *s, const char *id)
{
	send_attempt(s, id);
}

static int add_id(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	if (a->result != RESULTS_RUNNING)
		strset_add(ctx, a->id);
	return 0;
}

size_t result_sender_flush(struct result_sender *s)
{
	CLEANUP(strset_release) struct strset ids = {0};
	struct err e = ERR_INIT;
	const struct results_filter filter = {.platform = s->platform, .only_unsent = true};
	size_t sent = 0;
	s->is_away = false;
	if (results_list(s->results, &filter, add_id, &ids, &e) < 0)
		log_warn("the results that were not sent: %s", e.msg);
	for (size_t i = 0; i < ids.count && !s->is_closed && !s->is_away; i++)
		sent += send_attempt(s, ids.item[i]);
	return ids.count - sent;
}

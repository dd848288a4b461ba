// SPDX-License-Identifier: Apache-2.0
#include "uploader/evidence-sender.h"

#include <stdlib.h>
#include <time.h>

#include "uploader/retry-pause.h"

struct evidence_sender {
	char *url; // of the route
	unsigned retries;
	struct fetch *fetch;
};

int evidence_sender_new(const char *url, const struct fetch_options *options, unsigned retries,
	struct evidence_sender **out, struct err *e)
{
	char *whole = upload_url_route(url, "--to", "-/evidence/", e);
	if (!whole)
		return -1;
	struct evidence_sender *s = xcalloc(1, sizeof(*s));
	s->url = whole;
	s->retries = retries;
	s->fetch = fetch_new(options);
	*out = s;
	return 0;
}

void evidence_sender_free(struct evidence_sender *s)
{
	if (!s)
		return;
	fetch_free(s->fetch);
	free(s->url);
	free(s);
}

void evidence_sender_cleanup(struct evidence_sender **s)
{
	evidence_sender_free(*s);
}

static bool wait_before_next(const struct evidence_sender *s, unsigned try, uint64_t retry_after)
{
	int64_t ms = retry_pause(try, retry_after);
	if (try >= s->retries || ms < 0)
		return false;
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
	return true;
}

static int end_send(const struct evidence_sender *s, const struct upload_client_answer *a, struct err *e)
{
	static const enum err_kind kinds[] = {
		[UPLOAD_CLIENT_KEPT] = ERR_INVALID,
		[UPLOAD_CLIENT_CONFLICT] = ERR_INVALID,
		[UPLOAD_CLIENT_REFUSED] = ERR_INVALID,
		[UPLOAD_CLIENT_RETRY] = ERR_NET,
		[UPLOAD_CLIENT_STOP] = ERR_DENIED,
	};
	if (a->result == UPLOAD_CLIENT_OK)
		return a->status == 201;
	if (!a->status) // a failure of the connection, which names the URL
		return err_set(e, kinds[a->result], "%s", a->why.msg);
	return err_set(e, kinds[a->result], "%s: %s", s->url, a->why.msg);
}

// The server takes a record once, so it may be sent again after an answer that was lost.
int evidence_sender_send(struct evidence_sender *s, struct str record, struct err *e)
{
	struct upload_client_answer answer;
	for (unsigned try = 0;; try++) {
		upload_client_post(s->fetch, s->url, record, &answer);
		if (answer.result != UPLOAD_CLIENT_RETRY || !wait_before_next(s, try, answer.retry_after))
			return end_send(s, &answer, e);
	}
}

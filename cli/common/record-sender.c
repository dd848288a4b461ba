// SPDX-License-Identifier: Apache-2.0
#include "cli/common/record-sender.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/net/fetch.h"
#include "lib/os/fs.h"

enum { CONNECT_SECONDS = 20, TOKEN_MOST = 512 };

const char *const record_sender_result[2] = {"known", "recorded"};

void record_sender_release(struct record_sender *s)
{
	if (s->token.data)
		explicit_bzero(s->token.data, s->token.len);
	buf_release(&s->token);
	fetch_free(s->fetch);
	free(s->route);
}

// The first line of the file.
static int read_token_file(struct record_sender *s, const struct session *x, struct err *e)
{
	if (!x->token_file)
		return 0;
	buf_release(&s->token);
	buf_init(&s->token, TOKEN_MOST);
	if (fs_read_file(x->token_file, &s->token, e) < 0)
		return -1;
	s->token.len = strcspn(s->token.len ? s->token.data : "", "\r\n");
	if (s->token.len)
		s->token.data[s->token.len] = '\0';
	return s->token.len ? 0 : err_set(e, ERR_USAGE, "%s: it has no token", x->token_file);
}

int record_sender_options(struct record_sender *s, const struct session *x, struct fetch_options *out, struct err *e)
{
	if (!x->timeout)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	if (read_token_file(s, x, e) < 0)
		return -1;
	*out = (struct fetch_options){
		.ca_file = fetch_ca_file(x->ca_file),
		.user = "__token__",
		.password = x->token_file ? s->token.data : session_variable("WHEELCACHE_TOKEN"),
		.netrc = session_variable("NETRC"),
		.connect_seconds = CONNECT_SECONDS,
		.stall_seconds = (unsigned)x->timeout,
	};
	return 0;
}

int record_sender_open(struct record_sender *s, const struct session *x, struct err *e)
{
	struct fetch_options fetch;
	if (record_sender_options(s, x, &fetch, e) < 0 ||
		!(s->route = upload_url_route(s->url, "--to", "-/evidence/", e)))
		return -1;
	s->retries = x->retries;
	s->fetch = fetch_new(&fetch);
	return 0;
}

int record_sender_exchange(struct record_sender *s, const struct session *x, const char *route, struct str json,
	struct fetch_answer *a, struct upload_client_answer *answer, struct err *e)
{
	struct fetch_options options;
	CLEANUP(mem_free) char *url = upload_url_route(s->url, "--server", route, e);
	if (!url || record_sender_options(s, x, &options, e) < 0)
		return -1;
	struct fetch *f = fetch_new(&options);
	upload_client_exchange(f, url, json, a, answer);
	fetch_free(f);
	if (!answer->status) {
		*e = answer->why; // names the URL
		return -1;
	}
	if (*answer->why.msg)
		err_prefix(&answer->why, "%s: ", url);
	return 0;
}

int record_sender_refused(const struct upload_client_answer *answer, enum err_kind unfound, struct err *e)
{
	switch (answer->status) {
	case 400:
		return err_set(e, ERR_USAGE, "%s", answer->why.msg);
	case 401:
	case 403:
		return err_set(e, ERR_DENIED, "%s", answer->why.msg);
	case 404:
		return err_set(e, unfound, "%s", answer->why.msg);
	default:
		return err_set(e, ERR_NET, "%s", answer->why.msg);
	}
}

static bool wait_before_next(uint64_t retries, unsigned try, uint64_t retry_after)
{
	int64_t ms = retry_pause(try, retry_after);
	if (try >= retries || ms < 0)
		return false;
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
	return true;
}

// The server takes a record once, so it may be sent again after an answer that was lost.
int record_sender_send(struct record_sender *s, struct str record, char id[SHA256_HEX + 1], struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct upload_client_answer answer;
	digest_sha256(record, sha256);
	hex_encode(sha256, SHA256_SIZE, id);
	id[SHA256_HEX] = '\0';
	for (unsigned try = 0;; try++) {
		upload_client_post(s->fetch, s->route, record, &answer);
		if (answer.result != UPLOAD_CLIENT_RETRY || !wait_before_next(s->retries, try, answer.retry_after)) {
			static const enum err_kind kinds[] = {
				[UPLOAD_CLIENT_KEPT] = ERR_INVALID,
				[UPLOAD_CLIENT_CONFLICT] = ERR_INVALID,
				[UPLOAD_CLIENT_REFUSED] = ERR_INVALID,
				[UPLOAD_CLIENT_RETRY] = ERR_NET,
				[UPLOAD_CLIENT_STOP] = ERR_DENIED,
			};
			if (answer.result == UPLOAD_CLIENT_OK)
				return answer.status == 201;
			if (!answer.status) // a failure of the connection, which names the URL
				return err_set(e, kinds[answer.result], "%s", answer.why.msg);
			return err_set(e, kinds[answer.result], "%s: %s", s->route, answer.why.msg);
		}
	}
}

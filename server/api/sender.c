// SPDX-License-Identifier: Apache-2.0
#include "server/api/sender.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/format/jsondoc.h"
#include "server/core/auth.h"
#include "server/message/reply.h"
#include "server/message/negotiate.h"

// Names none that needs a token to be read.
static struct reply *unknown_platform(struct server_context *s, const struct route_match *match)
{
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PATH);
	const struct store *store = &match->site->store;
	name_choice_init(&names, match->platform);
	for (size_t i = 0; i < store->platform_count; i++)
		if (!store->platform[i].is_private)
			name_choice_add(&names, store->platform[i].name);
	buf_puts(&text, "no such platform");
	name_choice_hint(&names, &text);
	return server_context_not_found(s, text.data);
}

struct reply *sender_find_platform(struct sender *s, const struct route_match *match)
{
	s->platform = site_platform(server_context_site(s->context), match->platform);
	if (s->platform)
		return NULL;
	struct reply *refused = auth_unknown(s->context, match->request, TOKEN_UPLOAD, match->platform, NULL);
	return refused ? refused : unknown_platform(s->context, match);
}

void sender_begin(struct sender *s, struct server_context *context, const struct request *r,
	const char *action)
{
	*s = (struct sender){
		.context = context,
		.action = action,
		.peer = xstrdup(r->peer),
		.authorization = r->header[HEADER_AUTHORIZATION] ? xstrdup(r->header[HEADER_AUTHORIZATION]) : NULL,
		.wants_json = negotiate_wants_json(r->header[HEADER_ACCEPT]),
	};
}

void sender_release(struct sender *s)
{
	audit_close(s->audit);
	free(s->peer);
	free(s->authorization);
	free(s->token_name);
}

// Not those without a token, and not those that auth answers with 429.
static bool is_audited(const struct sender *s, const struct reply *refusal)
{
	return refusal->status != 429 && (s->token_name || (refusal->status == 401 && s->authorization));
}

int sender_admit(struct sender *s, struct reply **refusal, struct err *e)
{
	bool is_logged = !*refusal || is_audited(s, *refusal);
	if (is_logged && audit_open(s->context->audit, &s->audit, e) < 0) {
		reply_unref(STEAL_PTR(*refusal));
		return -1;
	}
	if (*refusal)
		sender_audit(s, (struct audit_entry){.result = "refused", .reason = "no token that may do it here"});
	return 0;
}

struct request sender_request(const struct sender *s)
{
	return (struct request){.peer = s->peer, .header = {[HEADER_AUTHORIZATION] = s->authorization}};
}

struct reply *sender_check_project(const struct sender *s, const char *project, struct audit_entry entry)
{
	const struct request sender = sender_request(s);
	struct reply *refusal = auth_check(s->context, &sender, TOKEN_UPLOAD, s->platform->name, project, NULL);
	entry.result = "refused";
	entry.reason = "the token is not for this project, or counts no more";
	if (refusal)
		sender_audit(s, entry);
	return refusal;
}

void sender_audit(const struct sender *s, struct audit_entry entry)
{
	struct err e = ERR_INIT;
	entry.who = s->token_name;
	entry.peer = s->peer;
	entry.action = s->action;
	if (s->platform)
		entry.platform = s->platform->name;
	if (s->audit && audit_write(s->audit, &entry, &e) < 0)
		log_error("%s", e.msg);
}

struct reply *sender_answer(const struct sender *s, const struct error_status *a, const char *message,
	const struct jsondoc *doc)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (s->wants_json)
		jsondoc_write(doc, 0, &text);
	else
		buf_printf(&text, "%s\n", message);
	struct reply *r = reply_new(a->status, s->wants_json ? "application/json" : "text/plain; charset=utf-8",
		blob_from_buf(&text));
	if (a->status >= 400)
		reply_set_phrase(r, message);
	reply_header(r, "Cache-Control", "no-store");
	reply_header(r, "Vary", "Accept");
	if (a->retry_after)
		reply_header(r, "Retry-After", "%u", a->retry_after);
	return r;
}

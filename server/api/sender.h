// SPDX-License-Identifier: Apache-2.0
// The sender of a file or of a build result: a client whose token may upload to a platform; or of evidence, a
// promotion or a yank: one whose token has that right. Its right is checked when the header arrives, and again for the
// project. Each answer to a known token is a line in the audit log, and so is each wrong token until 429 stops it. A
// request without a token is not logged: the log must not fill the disk. One thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/state/access/audit.h"
#include "server/core/server-context.h"

struct error_status;
struct jsondoc;

struct sender { // owns what it points to, except context, platform and action
	struct server_context *context;
	const struct platform *platform; // NULL: of evidence, a promotion or a yank
	const char *action;              // in the audit log
	char *peer, *authorization;      // of the request
	bool wants_json;                 // of the answers
	char *token_name;                // of the request's token; NULL: unknown
	struct audit *audit;             // NULL until sender_admit()
};

// The caller releases s.
void sender_begin(struct sender *s, struct server_context *context, const struct request *r, const char *action);
void sender_release(struct sender *s);
// Finds the platform of the path. NULL, or the answer where there is none, which the caller drops.
struct reply *sender_find_platform(struct sender *s, const struct route_match *match);
// Opens the audit log before anything is accepted, because each further answer must be logged. *refusal: the answer to
// a client without the right, which is logged; NULL: it has the right. The caller has set token_name. ERR_IO, ERR_FULL:
// the audit log, and then *refusal is dropped.
int sender_admit(struct sender *s, struct reply **refusal, struct err *e) MUST_CHECK;
// The request's address and authorization, to check its right again. Borrows from s.
struct request sender_request(const struct sender *s);
// The token may be for other projects, and may have been revoked since. NULL: it may upload this one; otherwise the
// answer, which the caller drops, and the entry is a line of the audit log.
struct reply *sender_check_project(const struct sender *s, const char *project, struct audit_entry entry);
// Adds a line to the audit log: entry, with who, peer, action and platform of the sender.
void sender_audit(const struct sender *s, struct audit_entry entry);
// An answer: the message as text, or doc as JSON, if the client prefers that. doc is borrowed.
struct reply *sender_answer(const struct sender *s, const struct error_status *a, const char *message,
	const struct jsondoc *doc);

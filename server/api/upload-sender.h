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

struct upload_sender { // owns what it points to, except context, platform and action
	struct server_context *context;
	const struct platform *platform; // NULL: of evidence, a promotion or a yank
	const char *action;              // in the audit log
	char *peer, *authorization;      // of the request
	bool wants_json;                 // of the answers
	char *token_name;                // of the request's token; NULL: unknown
	struct audit *audit;             // NULL until upload_sender_admit()
};

// Finds the platform of the path. False: the request is refused, and the caller drops *refusal. The caller releases s
// after true.
bool upload_sender_init(struct upload_sender *s, struct server_context *context, const struct route_match *match,
	const char *action, struct reply **refusal);
// The same without a platform. The caller releases s.
void upload_sender_begin(struct upload_sender *s, struct server_context *context, const struct request *r,
	const char *action);
void upload_sender_release(struct upload_sender *s);
// Opens the audit log before anything is accepted, because each further answer must be logged. 0: *refusal is the answer,
// which the caller drops, to a client without the right; NULL: it has the right. ERR_IO, ERR_FULL: the audit log.
int upload_sender_admit(struct upload_sender *s, const struct request *r, struct reply **refusal,
	struct err *e) MUST_CHECK;
// The same where the right was checked by the caller, who has set token_name. Takes over refused, the answer of auth.
int upload_sender_admit_as(struct upload_sender *s, struct reply *refused, struct reply **refusal,
	struct err *e) MUST_CHECK;
// The request's address and authorization, to check its right again. Borrows from s.
struct request upload_sender_request(const struct upload_sender *s);
// The token may be for other projects, and may have been revoked since. NULL: it may upload this one; otherwise the
// answer, which the caller drops and logs.
struct reply *upload_sender_check_project(const struct upload_sender *s, const char *project);
extern const char upload_sender_no_project[]; // the reason for the audit log
// Adds a line to the audit log: entry, with who, peer, action and platform of the sender.
void upload_sender_audit(const struct upload_sender *s, struct audit_entry entry);
// An answer: the message as text, or doc as JSON, if the client prefers that. doc is borrowed.
struct reply *upload_sender_answer(const struct upload_sender *s, const struct error_status *a, const char *message,
	const struct jsondoc *doc);

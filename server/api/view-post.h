// SPDX-License-Identifier: Apache-2.0
// A JSON document that a client posts with a token: evidence, a promotion or a yank. Its bytes are in memory, so they
// are limited while they arrive, for each document and for all together; its values are counted before it becomes a
// tree, which takes up to a hundred times its size. One thread at a time.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/access/tokens.h"
#include "server/api/upload-sender.h"
#include "server/message/error-status.h"

struct view_post {
	struct body_handler handler; // first
	struct upload_sender sender;
	struct token_grant grant; // of the right that the route needs
	struct buf body;
};

struct view_post_limits {
	const char *what; // "evidence", for messages
	size_t bytes, values;
	const char *const
		*keys; // that the document may have, none of them an object or null; NULL at the end. NULL: any
};

// Sets up p, whose ops are the caller's. action: in the audit log.
void view_post_begin(struct view_post *p, const struct body_handler_ops *ops, struct server_context *s,
	const struct request *r, const char *action, const struct view_post_limits *limits);
// Checks the token, of a view (NULL: of any), and the header. NULL: the body may arrive; else the answer, which the
// caller drops.
struct reply *view_post_admit(struct view_post *p, const struct request *r, enum token_right right, const char *view,
	const struct view_post_limits *limits);
// Checks the token again, since it may have been revoked while the body arrived.
struct reply *view_post_check_again(struct view_post *p, enum token_right right, const char *view);
void view_post_release(struct view_post *p);

// Adds bytes of the body, for body_handler_ops.take.
struct reply *view_post_take(struct view_post *p, struct str bytes, const struct view_post_limits *limits);
// Whether the body is JSON within the limits, and has only these keys. ERR_INVALID, ERR_LIMIT.
int view_post_check_body(const struct view_post *p, const struct view_post_limits *limits, struct err *e) MUST_CHECK;

// Writes the audit log, and answers: the reason, or, if the server is at fault, that it is. ERR_USAGE and ERR_INVALID are
// 400, ERR_DENIED is 403.
struct reply *view_post_failed(struct view_post *p, const char *project, const struct err *why);
// The same with a status of the caller's.
struct reply *view_post_refused(struct view_post *p, const struct error_status *a, const char *project,
	const struct err *why);
// The same: 429, and when the client may try again. It is not in the audit log, which it could fill.
struct reply *view_post_too_many(struct view_post *p, int64_t wait_ms, const struct err *why);
// An answer with doc as JSON or the message as text. doc is borrowed.
struct reply *view_post_answer(const struct view_post *p, unsigned status, const char *message,
	const struct jsondoc *doc);

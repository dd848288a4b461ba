// SPDX-License-Identifier: Apache-2.0
// A JSON document that a client posts with a token, from its header to its answer. What a route takes is a row, struct
// json_post_kind; this reads, checks and answers. The token is checked when the header arrives, and again when the body
// is there. The bytes are in memory, so they are limited while they arrive, for each document and for all together; the
// values are counted before the document becomes a tree, which takes up to a hundred times its size. One thread at a
// time.
#pragma once

#include "lib/base/arena.h"
#include "lib/format/jsondoc.h"
#include "lib/state/access/tokens.h"
#include "server/api/sender.h"
#include "server/message/body-handler.h"
#include "server/message/reply.h"

// A route has a struct of its own that begins with it.
struct json_post {
	struct body_handler handler; // first
	const struct json_post_kind *kind;
	struct sender sender;
	const char *view;         // of the path; "": none
	struct token_grant grant; // of the kind's right; empty for TOKEN_UPLOAD
	struct buf body;
	struct arena arena;   // what the route needs until the answer
	struct jsondoc *json; // of json_post_tree(); strings are borrowed from it
	// Set by the route: of the audit log's line and the answer, where a later step fails. NULL: not known yet.
	const char *project, *file, *id;
	int64_t wait_ms; // with an error: the token sent too much, and may again after this; 0: it is another error
};

struct json_post_kind {
	size_t size;            // of the route's struct
	const char *action;     // in the audit log; NULL: nothing is logged
	enum token_right right; // TOKEN_UPLOAD: to the platform of the path; another one: wherever the token has it,
	bool is_of_view;        // or only for the view of the path
	bool is_open;           // anybody may post it
	bool takes_long;        // it is not begun where the server stops
	const char *what;       // "build result:", begins messages
	const char *one;        // "a build result"
	const char *many;       // "build results"
	const char *room_for;   // "more build results"
	size_t bytes, values;   // that the body may have; values 0: run counts them
	const char *const *keys; // that the document may have, none of them an object or null; NULL at the end. NULL: any
	// NULL, like that of check: the token may do it; else the answer. Instead of the usual check of the right.
	struct reply *(*check_right)(struct json_post *p, const struct route_match *match);
	struct reply *(*check)(struct json_post *p, const struct route_match *match); // when the header has arrived; NULL: none
	int (*run)(struct json_post *p, struct reply **answer, struct err *e);        // when the body has arrived
	struct reply *(*fail)(struct json_post *p, const struct err *why);            // NULL: json_post_failed()
	void (*release)(struct json_post *p);                                         // of the route's members; NULL: none
};

// As a receive_fn.
struct body_handler *json_post_receive(const struct json_post_kind *kind, struct server_context *s,
	const struct route_match *match, struct reply **refusal);

// Reads the body into p->json.
int json_post_tree(struct json_post *p, struct err *e) MUST_CHECK;

// Writes the audit log, and answers: the reason, or, if the server is at fault, that it is. ERR_USAGE and ERR_INVALID
// are 400, ERR_DENIED is 403; 429 with p->wait_ms, which is not in the audit log, which it could fill.
struct reply *json_post_failed(struct json_post *p, const struct err *why);
// The same with a status of the caller's.
struct reply *json_post_refused(struct json_post *p, const struct error_status *a, const struct err *why);
// An answer with doc as JSON, or the message as text. doc is borrowed.
struct reply *json_post_answer(const struct json_post *p, unsigned status, const char *message, const struct jsondoc *doc);

// Values of an object that was posted. What has another type than it must have is ERR_INVALID, and named.
struct posted_object {
	const char *what; // "promotion", for messages
	const struct jsondoc *object;
};

// A text of one line, at most so many bytes; *out, which is borrowed, stays as it is where there is none.
int posted_object_line(const struct posted_object *p, const char *key, size_t limit, const char **out,
	struct err *e) MUST_CHECK;
int posted_object_flag(const struct posted_object *p, const char *key, bool *out, struct err *e) MUST_CHECK;
// *out NULL: there is none. ERR_LIMIT: more entries.
int posted_object_list(const struct posted_object *p, const char *key, size_t most, const struct jsondoc **out,
	struct err *e) MUST_CHECK;
// Words that select files: an array of the arena, with strings of the document. 0: there is no such key. ERR_INVALID:
// the array is empty, or has what can be no name and no path; ERR_LIMIT: more than so many.
int posted_object_select(const struct posted_object *p, size_t most, struct arena *a, const char *const **out,
	size_t *count, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The client of an index server: its URLs, a project's page, the upload of a file, and how long to wait before another
// try. One thread at a time per struct fetch.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "uploader/dist-file.h"

// --- URLs. Pure ---

// The upload URL: one platform of one server.
struct upload_url {
	char *upload;   // https://host/upload/<platform>/
	char *simple;   // https://host/<platform>/simple/
	char *platform; // <platform>
};

// url is http(s)://HOST/…/upload/<platform>/; the last slash may be missing. ERR_USAGE if it is another URL, or has a
// user name or password: every user of the machine sees command lines. The caller releases u if it returns 0.
int upload_url_init(struct upload_url *u, const char *url, struct err *e) MUST_CHECK;
void upload_url_release(struct upload_url *u);
// The URL of a route, "-/evidence/", of a server whose base URL is url; url may be the route's own. The caller frees
// it. ERR_USAGE names the option: it is neither, or has a user name or password.
char *upload_url_route(const char *url, const char *option, const char *route, struct err *e) MUST_CHECK;

// --- pauses. Pure ---

enum {
	RETRY_PAUSE_FIRST_MS = 250,     // before the second try; twice as long before each further one
	RETRY_PAUSE_LONGEST_MS = 16000, // upper limit of these
	RETRY_PAUSE_ASKED_MS = 600000,  // of Retry-After: the client does not wait longer
};

// Milliseconds before the next try, after the failed try number `try`, from 0. retry_after: seconds that the server
// asked for; 0: none. -1: it asks for too long a pause.
int64_t retry_pause(unsigned try, uint64_t retry_after);

// --- requests ---

enum upload_client_result {
	UPLOAD_CLIENT_OK,
	UPLOAD_CLIENT_KEPT,     // the server keeps another build of the same contents
	UPLOAD_CLIENT_CONFLICT, // the server has other bytes under this name
	UPLOAD_CLIENT_REFUSED,  // the server refuses this file
	UPLOAD_CLIENT_RETRY,    // no answer, or a temporary error: try again later
	UPLOAD_CLIENT_STOP,     // an error that every file would have: the token or the URL
};

struct upload_client_answer {
	enum upload_client_result result;
	unsigned status;      // of HTTP; 0: no answer
	uint64_t retry_after; // seconds, from the header; 0: none
	struct err why;       // unless UPLOAD_CLIENT_OK
};

// The files of a project with their hashes. NULL is an empty page.
struct upload_client_page;

// Gets the page of a project (normalised); *out is NULL where the server does not know it, and on an error. The caller
// frees *out. The result is UPLOAD_CLIENT_OK, UPLOAD_CLIENT_RETRY or UPLOAD_CLIENT_STOP.
void upload_client_get_page(struct fetch *f, const struct upload_url *t, const char *project,
	struct upload_client_page **out, struct upload_client_answer *answer);
void upload_client_page_free(struct upload_client_page *page);     // NULL is fine
void upload_client_page_cleanup(struct upload_client_page **page); // for CLEANUP

// Sets UPLOAD_CLIENT_KEPT and its reason.
void upload_client_set_kept(struct upload_client_answer *answer);

enum upload_client_found { UPLOAD_CLIENT_ABSENT, UPLOAD_CLIENT_SAME, UPLOAD_CLIENT_OTHER };
// Whether the page has the file, with the same bytes or with others.
enum upload_client_found upload_client_find(const struct upload_client_page *page, const struct dist_file *p);

// Uploads the file, which is open as fd; the caller closes it.
void upload_client_send(struct fetch *f, const struct upload_url *t, const struct dist_file *p, int fd,
	struct upload_client_answer *answer);

// Posts a JSON document, which may arrive twice where a connection is lost.
void upload_client_exchange(struct fetch *f, const char *url, struct str json, struct fetch_answer *a,
	struct upload_client_answer *answer); // *a is the whole answer, which the caller initialised
void upload_client_post(struct fetch *f, const char *url, struct str json, struct upload_client_answer *answer);

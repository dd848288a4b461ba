// SPDX-License-Identifier: Apache-2.0
// The client of an index server: gets a project's page, and uploads a file. One thread at a time per struct fetch.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "uploader/dist-file.h"
#include "uploader/upload-url.h"

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

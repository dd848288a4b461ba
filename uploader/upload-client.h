// SPDX-License-Identifier: Apache-2.0
// What a server says: of a project's files, and to an upload. Threads: as struct fetch.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "uploader/dist-file.h"
#include "uploader/upload-url.h"

enum upload_client_word {
	UPLOAD_CLIENT_GOOD,
	UPLOAD_CLIENT_KEPT,     // it has another build of the same contents, which stays
	UPLOAD_CLIENT_CONFLICT, // it has other bytes under this name
	UPLOAD_CLIENT_REFUSED,  // it does not take this file
	UPLOAD_CLIENT_AGAIN,    // it could not be asked, or is in trouble: later perhaps
	UPLOAD_CLIENT_STOP,     // the same for every file: who we are, or where we ask
};

struct upload_client_answer {
	enum upload_client_word word;
	uint64_t retry_after; // seconds that the server wants between; 0: it did not say
	struct err why;       // unless it is good
};

// The files of a project by name, with their hashes. NULL is an empty one.
struct remote_page;

// Asks for the page; *out is NULL where the project is unknown there. Never UPLOAD_CLIENT_CONFLICT or
// UPLOAD_CLIENT_REFUSED.
void upload_client_ask(struct fetch *f, const struct upload_url *t, const char *project, struct remote_page **out,
	struct upload_client_answer *answer);
void upload_client_page_free(struct remote_page *page);     // NULL is fine
void upload_client_page_cleanup(struct remote_page **page); // for CLEANUP

// It keeps an earlier build.
void upload_client_say_kept(struct upload_client_answer *answer);

enum upload_client_state { UPLOAD_CLIENT_ABSENT, UPLOAD_CLIENT_SAME, UPLOAD_CLIENT_OTHER };
enum upload_client_state upload_client_state(const struct remote_page *page, const struct dist_file *p);

// Sends the file, which is open as fd.
void upload_client_send(struct fetch *f, const struct upload_url *t, const struct dist_file *p, int fd,
	struct upload_client_answer *answer);

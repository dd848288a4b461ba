// SPDX-License-Identifier: Apache-2.0
// What a server says: of a project's files, and to an upload. Threads: as struct fetch.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "uploader/dist-file.h"
#include "uploader/upload-url.h"

enum remote_word {
	REMOTE_GOOD,
	REMOTE_KEPT,     // it has another build of the same contents, which stays
	REMOTE_CONFLICT, // it has other bytes under this name
	REMOTE_REFUSED,  // it does not take this file
	REMOTE_AGAIN,    // it could not be asked, or is in trouble: later perhaps
	REMOTE_STOP,     // the same for every file: who we are, or where we ask
};

struct remote_answer {
	enum remote_word word;
	uint64_t retry_after; // seconds that the server wants between; 0: it did not say
	struct err why;       // unless it is good
};

// The files of a project by name, with their hashes. NULL is an empty one.
struct remote_page;

// Asks for the page; *out is NULL where the project is unknown there. Never REMOTE_CONFLICT or
// REMOTE_REFUSED.
void remote_ask(struct fetch *f, const struct target *t, const char *project,
	struct remote_page **out, struct remote_answer *answer);
void remote_page_free(struct remote_page *page);     // NULL is fine
void remote_page_cleanup(struct remote_page **page); // for CLEANUP

// It keeps an earlier build.
void remote_say_kept(struct remote_answer *answer);

enum remote_state { REMOTE_ABSENT, REMOTE_SAME, REMOTE_OTHER };
enum remote_state remote_state(const struct remote_page *page, const struct parcel *p);

// Sends the file, which is open as fd.
void remote_send(struct fetch *f, const struct target *t, const struct parcel *p, int fd,
	struct remote_answer *answer);

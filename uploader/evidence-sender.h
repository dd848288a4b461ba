// SPDX-License-Identifier: Apache-2.0
// Sends records of test runs to a server, and tries again as a push does. One thread at a time.
#pragma once

#include "lib/base/str.h"
#include "uploader/upload-client.h"

struct evidence_sender; // of one server

// url: the base URL of the server, or the URL of its route /-/evidence/. ERR_USAGE if it is neither, or has a user name.
// The caller frees *out. Borrows what options point to.
int evidence_sender_new(const char *url, const struct fetch_options *options, unsigned retries,
	struct evidence_sender **out, struct err *e) MUST_CHECK;
void evidence_sender_free(struct evidence_sender *s);
void evidence_sender_cleanup(struct evidence_sender **s); // for CLEANUP

// 1: the server has taken the record; 0: it had it. ERR_DENIED: the token; ERR_USAGE: the URL; ERR_INVALID: the record;
// ERR_NET: no answer, or an error of the server, at each try.
int evidence_sender_send(struct evidence_sender *s, struct str record, struct err *e) MUST_CHECK;

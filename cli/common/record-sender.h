// SPDX-License-Identifier: Apache-2.0
// Sends records of test runs, and other documents, to a server for the commands that do: their options, the token, and
// the server. One thread at a time.
#pragma once

#include "cli/common/session.h"
#include "lib/base/buf.h"
#include "lib/format/digest.h"
#include "uploader/upload-client.h"

struct record_sender {    // all zero at first
	const char *url;  // borrowed from the command line
	struct buf token; // of --token-file
	// For sending records, behind record_sender_open().
	char *route;
	uint64_t retries;
	struct fetch *fetch;
};

void record_sender_release(struct record_sender *s); // for CLEANUP
// Reads the token, and sets what a request needs by --ca-file, --token-file, --retries and --timeout; *out borrows from
// *s. ERR_USAGE: an option.
int record_sender_options(struct record_sender *s, const struct session *x, struct fetch_options *out,
	struct err *e) MUST_CHECK;
// The same, for sending records. ERR_USAGE: the URL, or an option.
int record_sender_open(struct record_sender *s, const struct session *x, struct err *e) MUST_CHECK;

// Posts a JSON document to a route of the server. Of any answer 0: *answer has its status, and *a, which the caller
// initialised, is the whole one; its reason names the URL. ERR_USAGE: the URL, or an option; else there is no answer.
int record_sender_exchange(struct record_sender *s, const struct session *x, const char *route, struct str json,
	struct fetch_answer *a, struct upload_client_answer *answer, struct err *e) MUST_CHECK;

// Sets the error for an answer that refuses, so that the exit code is that of the local command. unfound: the kind for
// 404.
int record_sender_refused(const struct upload_client_answer *answer, enum err_kind unfound, struct err *e);

extern const char *const record_sender_result[2]; // of a sending that did not fail
// Sends a record as evidence_write() writes it, and tells its id. 1: the server has taken the
// record; 0: it had it. ERR_DENIED: the token; ERR_USAGE: the URL; ERR_INVALID: the record; ERR_NET: no answer, or an
// error of the server, at each try.
int record_sender_send(struct record_sender *s, struct str record, char id[SHA256_HEX + 1], struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The reply that a handler returns: a plain value without a socket.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/blob.h"
#include "server/message/download-counter.h"
#include "server/message/request.h"
#include "server/message/stream.h"

enum { REPLY_HEADERS = 8, REPLY_ETAG = 80 };

// Counted. Built by one thread, then not changed any more: so it can be kept and sent any number of times, by any
// number of threads.
struct reply {
	unsigned status;
	const char *type;      // Content-Type, static; NULL: none
	struct blob *body;     // owned; NULL: empty
	struct stream *stream; // owned; NULL: the body is there. Else it is what is sent, length bytes of it
	uint64_t offset;       // the part of the body that is sent
	uint64_t length;
	char etag[REPLY_ETAG]; // strong, with its quotes; "" where it has none
	struct {
		const char *name; // static
		char *value;      // owned
	} header[REPLY_HEADERS];
	unsigned header_count;
	struct reply *unchanged; // owned: the 304 for a client that has this etag; NULL where there is none

	struct download_count *count; // owned: raised where all of the body was sent; NULL: nobody counts
	struct reply *_Atomic part;   // owned: the first 206 that was made of it, see reply_keep_part()

	// Whoever sends replies keeps the form here in which he sends them (server/http/http).
	void *_Atomic prepared;
	void (*prepared_free)(void *prepared);
	_Atomic unsigned owners;
};

// Takes the body over; all of it is sent.
struct reply *reply_new(unsigned status, const char *type, struct blob *body);
// The same of a body that still comes; a reference of the stream is taken over. It is for one client: not to be kept.
struct reply *reply_stream(unsigned status, const char *type, struct stream *stream, uint64_t length);
// A line of text for people and logs; a line end is added.
struct reply *reply_text(unsigned status, const char *fmt, ...) PRINTF_LIKE(2, 3);
// While it is built. At most REPLY_HEADERS; name must be static.
void reply_header(struct reply *r, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Gives it an ETag and its 304, which carries the headers that the reply has so far (RFC 9110 section 15.4.5).
void reply_set_etag(struct reply *r, const char *etag);
// The same once more with "Connection: close": what is kept and sent to others stays as it is.
struct reply *reply_closing(const struct reply *r);
// The value of a header, NULL where it has none.
const char *reply_get_header(const struct reply *r, const char *name);
// Keeps a part for those who ask for the same one: clients do, for the end of an archive. One is kept, the first.
void reply_keep_part(struct reply *whole, struct reply *part);
// The part that is kept, if it is this one, with a reference for the caller; else NULL.
struct reply *reply_kept_part(struct reply *whole, uint64_t offset, uint64_t length);
struct reply *reply_ref(struct reply *r);
void reply_unref(struct reply *r);    // NULL is fine
void reply_cleanup(struct reply **r); // for CLEANUP
// What it weighs in a cache: body, headers, itself.
size_t reply_weight(const struct reply *r);

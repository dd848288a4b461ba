// SPDX-License-Identifier: Apache-2.0
// The reply that a handler returns: a value without a socket. One thread builds a reply; after that any thread may call
// the functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/blob.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "server/message/download-counter.h"
#include "server/message/stream.h"

enum { REPLY_HEADERS = 8, REPLY_ETAG = 80, REPLY_PHRASE = 200 };

// Reference-counted. Immutable once it is built, so threads can keep and send it any number of times.
struct reply {
	unsigned status;
	const char *type;      // Content-Type, static; NULL: none
	struct blob *body;     // owned; NULL: empty
	struct stream *stream; // owned; the source of the body, length bytes; NULL: body has them
	uint64_t offset;       // the part of body that is sent
	uint64_t length;
	char etag[REPLY_ETAG]; // strong, with its quotes; "": none
	struct {
		const char *name; // static
		char *value;      // owned
	} header[REPLY_HEADERS];
	unsigned header_count;
	char *phrase; // owned: the reason phrase; NULL: that of the status
	struct reply *unchanged; // owned: the 304 for a client that has this etag; NULL: none

	struct download_count *count; // owned: raised when all of the body was sent; NULL: not counted
	struct reply *_Atomic part;   // owned: see reply_keep_part()

	// The libmicrohttpd response of this reply, cached by server/http/mhd.
	void *_Atomic prepared;
	void (*prepared_free)(void *prepared);
	_Atomic unsigned owners;
};

// Takes the body over and sends all of it. reply_unref() drops the result.
struct reply *reply_new(unsigned status, const char *type, struct blob *body);
// A reply whose body a stream produces. Takes over the caller's reference to the stream. For one client: the caller
// must not keep it.
struct reply *reply_stream(unsigned status, const char *type, struct stream *stream, uint64_t length);
// Sets the reason phrase, while the reply is built: twine and pip show nothing else of a refusal. It is the first line
// of the text, of which at most REPLY_PHRASE bytes count; what is not printable ASCII becomes "?".
void reply_set_phrase(struct reply *r, const char *text);
// A line of text for people and logs. Adds the line end. Of a refusal it is the reason phrase too, without the number.
struct reply *reply_text(unsigned status, const char *fmt, ...) PRINTF_LIKE(2, 3);
// A refusal with a reason, as application/problem+json (RFC 9457), which uv prints. The detail, one line, is the reason
// phrase too. No cache keeps it.
struct reply *reply_problem(unsigned status, const char *title, const char *detail);
// 503, with the time after which the client may try again.
struct reply *reply_busy(const char *why);
// JSON that is made for one request: no cache keeps it. Takes the bytes.
struct reply *reply_json(unsigned status, struct buf *text);
// Adds a header, while the reply is built. At most REPLY_HEADERS; name must be static.
void reply_header(struct reply *r, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Sets the ETag and makes the 304, which has the headers that the reply has so far (RFC 9110 section 15.4.5).
void reply_set_etag(struct reply *r, const char *etag);
// A copy with "Connection: close". r, which other clients may get, stays as it is.
struct reply *reply_closing(const struct reply *r);
// The value of a header; NULL: none.
const char *reply_get_header(const struct reply *r, const char *name);
// Keeps the first 206 that was made of a reply: many clients ask for the same part, the end of an archive.
void reply_keep_part(struct reply *whole, struct reply *part);
// A reference to the kept part, if it is this one; else NULL.
struct reply *reply_kept_part(struct reply *whole, uint64_t offset, uint64_t length);
struct reply *reply_ref(struct reply *r);
void reply_unref(struct reply *r);    // NULL is fine
void reply_cleanup(struct reply **r); // for CLEANUP
// What the reply takes in bytes, of memory or disk: body, headers, itself.
size_t reply_weight(const struct reply *r);

// Conditional and range requests: RFC 9110 sections 13 and 14. Pure functions; any thread. A header is NULL where the
// client did not send it. etag is a strong one of this server, with its quotes.

// Section 13.1.2. True where the list contains etag, or is "*": the answer is 304.
bool etag_matches(const char *if_none_match, const char *etag);
// The ETag of a file, or of what has its hash.
enum { ETAG_SIZE = SHA256_HEX + 3 };
void etag_of_sha256(const uint8_t sha256[SHA256_SIZE], char out[ETAG_SIZE]);
// Section 13.1.5. False where the client has other bytes: the caller ignores Range. Always false for a date, as the
// server sends no date that is a strong validator.
bool if_range_holds(const char *if_range, const char *etag);

enum range_kind {
	RANGE_WHOLE,         // none, several, or malformed: 200 with all bytes
	RANGE_PART,          // 206
	RANGE_UNSATISFIABLE, // 416
};

struct range {
	enum range_kind kind;
	uint64_t first, last; // of RANGE_PART: inclusive, last < size
};

// size: of the whole file, in bytes.
struct range range_parse(const char *header, uint64_t size);

// The HTTP status of an error, by its kind. No other file decides it. Any thread.
//
// The same kind means another status where the server reads its own data than where it takes a client's upload: a
// damaged file of the store is not the client's mistake, a damaged upload is. So the table has two columns.

enum error_side {
	ERROR_OF_READ,   // the server reads its store, its catalog or upstream
	ERROR_OF_UPLOAD, // the server checks and stores what a client sent
	ERROR_SIDE_COUNT,
};

struct error_status {
	unsigned status;      // 4xx or 5xx
	const char *title;    // the reason phrase of status
	unsigned retry_after; // seconds, for the header Retry-After; 0: no such header
	bool is_fault;        // of the server: the message is logged as an error
	const char *detail;   // sent to the client; NULL: nothing (read), the error's message (upload)
};

// Static, never NULL. kind is below ERR_COUNT.
const struct error_status *error_status(enum err_kind kind, enum error_side side);

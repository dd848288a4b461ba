// SPDX-License-Identifier: Apache-2.0
// Signed requests to an object store that speaks S3 (AWS's API of 2006-03-01), each repeated as long as that helps.
// What is signed, by AWS's Signature Version 4: method, host, path, query, the hash of the body, and every header that
// is given here. libcurl has such signatures too, but 8.14 (Debian 13) signs "+" in a query as a space. Any thread.
#pragma once

#include "lib/net/fetch.h"
#include "lib/format/digest.h"

// How a bucket is reached: [place s3://BUCKET].
struct s3_settings {
	const char *bucket;
	const char *endpoint; // a URL; NULL: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, else AWS's of the region
	const char *region;   // NULL: $AWS_REGION, $AWS_DEFAULT_REGION, else us-east-1
	// "yes": the bucket is the first part of the path; "no": of the host; NULL, "auto": yes with an endpoint.
	const char *path_style;
	const char *ca_file;    // NULL: the system's
	const char *credentials_command; // NULL: as lib/place/s3-credentials.h says
	bool trusts_engine; // a place is used although its engine accepts wrong signatures
};

struct s3_bucket;

// Copies them. A bucket that has been used keeps its first settings.
void s3_bucket_configure(const struct s3_settings *s);
// The bucket of this name, as it was configured, else with all defaults. It lives until the process ends.
struct s3_bucket *s3_bucket_named(struct str name);
bool s3_bucket_is_trusted(const struct s3_bucket *b); // [place] trust-engine
// "s3://BUCKET at ENDPOINT", for messages. Borrowed.
const char *s3_bucket_title(const struct s3_bucket *b);
// Seconds that the engine's clock is ahead of ours, as of its last answer.
int64_t s3_bucket_skew(const struct s3_bucket *b);

enum { S3_HEADERS = 6 };

struct s3_request {
	const char *method;
	const char *key;   // NULL: the bucket itself
	const char *query; // encoded, its keys in order, each with "="; NULL: none
	const char *header[S3_HEADERS];  // lines with a value; NULL: none
	const struct byte_source *body;  // NULL: none, or an empty one
	uint64_t offset, size;           // the part of it
	const uint8_t *sha256;           // of that part; NULL: of no bytes
	size_t answer_limit;             // bytes of the answer's body; 0: LIMIT_ANSWER
	// As in struct fetch_call, and *is_stopped says whether it has returned false. restart: called before each try.
	bool (*on_body)(void *ctx, struct str piece);
	const bool *is_stopped;
	void (*restart)(void *ctx);
	void *ctx;
	int64_t until_ms; // by clock_ms(); 0: LIMIT_S3_TRIES, for about a minute
	// For probes of the engine: sent once.
	const char *secret; // another one than the right one; NULL: the right one
	int64_t age_s;      // of the signature
	bool is_single;
};

struct s3_answer {
	struct fetch_answer http;
	char code[64];    // of an error, such as "NoSuchKey"; "": none
	char message[200];
};
void s3_answer_release(struct s3_answer *a); // for CLEANUP

// Initialises *out, whatever it returns. 0: there is an answer, with any status. ERR_IO: there is none, or only such as
// say that another try may succeed. ERR_USAGE: an endpoint, or credentials, that cannot be read.
int s3_request_send(struct s3_bucket *b, const struct s3_request *r, struct s3_answer *out, struct err *e) MUST_CHECK;
// Sets the error that an answer is, of a status from 300 on; returns -1. ERR_NOT_FOUND; ERR_CONFLICT: a condition does
// not hold; ERR_INVALID: the engine does not know such a request; ERR_FULL: no room, or no more for this account;
// ERR_IO: all others, also where the account has no right: a place whose files nobody may see has not lost them.
int s3_request_refuse(const struct s3_bucket *b, const struct s3_request *r, const struct s3_answer *a, struct err *e);

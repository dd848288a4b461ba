// SPDX-License-Identifier: Apache-2.0
// Objects of a bucket (lib/place/s3-request.h): read, listed, put, deleted, under conditions that the engine decides.
// Any thread. Errors are those of s3_request_send() and s3_request_refuse(), and what a function names besides.
#pragma once

#include "lib/base/limits.h"
#include "lib/place/s3-request.h"

// What tells an object from another one of its key.
struct s3_object {
	uint64_t size;
	int64_t time; // of the last change, seconds since 1970, by the engine's clock
	char etag[LIMIT_S3_ETAG]; // without quotes; "": the engine has none, as of files that were put below it by hand
};
bool s3_object_is(const struct s3_object *a, const struct s3_object *b);

enum { S3_NONCE = 32 + 1 };

// 1: it is there; 0: it is not. nonce: NULL, or gets what s3_put() has noted; "": nothing.
int s3_head(struct s3_bucket *b, const char *key, struct s3_object *out, char nonce[S3_NONCE], struct err *e) MUST_CHECK;

// Takes the bytes that come, or returns -1. begin: the object that they are of; all starts anew with each call of it.
struct s3_sink {
	int (*begin)(void *ctx, const struct s3_object *object, struct err *e);
	int (*add)(void *ctx, struct str bytes, struct err *e);
	void *ctx;
};
// Reads len bytes from offset, or what there is of them. 1: done; 0: there is no such object.
int s3_read(struct s3_bucket *b, const char *key, uint64_t offset, uint64_t len, const struct s3_sink *sink, struct err *e)
	MUST_CHECK;

struct s3_put {
	const char *key;
	const struct byte_source *body;
	uint64_t size;
	const uint8_t *sha256;
	bool is_new;         // nothing may have the key
	const char *if_match; // the object of the key must have this ETag; NULL: no condition
	bool in_one;          // not in parts, however large
};
// Objects of more than S3_PART_FROM bytes go in parts, each of which is sent again alone. If an answer is lost, a note
// in the object (x-amz-meta-wheelcache-put) says whether it is this one. ERR_CONFLICT: a condition does not hold.
enum { S3_PART_FROM = 64 << 20 };
int s3_put(struct s3_bucket *b, const struct s3_put *put, struct err *e) MUST_CHECK;
// ERR_CONFLICT: the object has another ETag than if_match (NULL: any), where the engine looks.
int s3_delete(struct s3_bucket *b, const char *key, const char *if_match, struct err *e) MUST_CHECK;

// What a listing has below a prefix: objects, and with a delimiter what ends with "/" as a whole.
struct s3_listed {
	const char *name; // behind the prefix
	bool is_prefix;   // without its "/"
	struct s3_object object;
};
// Calls fn in the order of the keys, until it returns something else than 0, which is then returned. most: keys of a
// page.
typedef int s3_list_fn(void *ctx, const struct s3_listed *one, struct err *e);
int s3_list(struct s3_bucket *b, const char *prefix, bool is_deep, unsigned most, s3_list_fn *fn, void *ctx, struct err *e)
	MUST_CHECK;
// Whether the bucket lists before clock_ms() reaches until_ms. False: *why says why it does not.
bool s3_answers(struct s3_bucket *b, const char *prefix, int64_t until_ms, struct err *why);

// For probes: whether what completes an upload in parts looks at If-None-Match. key is there.
int s3_complete_is_conditional(struct s3_bucket *b, const char *key, bool *out, struct err *e) MUST_CHECK;

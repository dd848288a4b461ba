// SPDX-License-Identifier: Apache-2.0
// What the engine of a bucket honours, found out by trying it below PREFIX/.wheelcache/probe/. Any thread.
#pragma once

#include "lib/place/s3-request.h"

enum s3_probe_result {
	S3_PROBE_FINE,
	S3_PROBE_WEAK,    // it works, with what the words say
	S3_PROBE_NO_WRITE, // nothing may be written
	S3_PROBE_AWAY,    // it does not answer, or refuses to be read
	S3_PROBE_WRONG,   // the bucket may not be used
};

// Tells one thing after the other. what: "conditional create", …; words: a sentence.
typedef void s3_probe_fn(void *ctx, enum s3_probe_result result, const char *what, const char *words);
// Probes all, and returns the worst result. is_full: also with a wrong secret and an expired signature, which look like
// an attack.
enum s3_probe_result s3_probe(struct s3_bucket *b, const char *prefix, bool is_full, s3_probe_fn *fn, void *ctx);

// Makes sure, once in a process, that the first of two writers of a key wins. ERR_BUSY: it does not; or as s3_put().
int s3_probe_create(struct s3_bucket *b, const char *prefix, struct err *e) MUST_CHECK;
// Whether that is so of uploads in parts; once in a process too.
bool s3_probe_complete(struct s3_bucket *b, const char *prefix);

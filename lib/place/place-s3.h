// SPDX-License-Identifier: Apache-2.0
// A place that is a bucket, or what is below a prefix of one: keys are the paths of the tree, so a copy of the tree is
// one of the bucket, both ways.
//
// - There are no folders, only keys with "/". Each path can be opened as one; a folder is listed if a file lies below
//   it; making one makes nothing. There are no links, no locks, no news, and no unfinished files.
// - A version is size, time (whole seconds), and a hash of the ETag. Opening a file reads its first bytes at once with
//   its version; what is read later is of the same object, else it is ERR_BUSY. What was listed a folder's handle knows
//   without another request, and a mark (a name with a dot in front) for two seconds.
// - A file is written into the spool (lib/place/spool.h), and put with its SHA-256 when it gets its name. The engine
//   decides: place_put_new() is If-None-Match, an expected version If-Match, if the object has an ETag. The first write
//   of a process makes sure that the engine honours If-None-Match, else nothing is written (ERR_BUSY, with the reason).
// - A bucket that refuses or does not answer is ERR_IO, never a file that is missing.
#pragma once

#include "lib/place/place.h"
#include "lib/place/s3-probe.h"

#define PLACE_S3_SCHEME "s3://"
// Whether it is the address of such a place.
bool place_s3_is(const char *address);
// "s3://BUCKET" or "s3://BUCKET/PREFIX". It makes no request. ERR_USAGE: not such an address.
int place_s3_check(const char *address, struct err *e) MUST_CHECK;
const char *place_s3_bucket(const char *address); // what is behind the scheme; borrowed
struct place *place_s3_new(const char *address);    // which is one
// As s3_probe() of what the address names.
enum s3_probe_result place_s3_probe(const char *address, bool is_full, s3_probe_fn *fn, void *ctx);

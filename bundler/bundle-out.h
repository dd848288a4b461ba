// SPDX-License-Identifier: Apache-2.0
// Writes a bundle (bundle.h) piece by piece, under a temporary name until it is whole. Memory: some MB. One thread at
// a time. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include "bundler/bundle.h"

struct bundle_out;

// The file gets the name in bundle_out_end(), in place of what has it. ERR_USAGE: that is no regular file. NULL on an
// error.
struct bundle_out *bundle_out_new(const char *path, struct err *e) MUST_CHECK;
void bundle_out_free(struct bundle_out *o); // removes an unfinished file; NULL is fine
// Begins a member. Exactly size bytes are to be added to it.
int bundle_out_member(struct bundle_out *o, const char *path, uint64_t size, struct err *e) MUST_CHECK;
int bundle_out_add(struct bundle_out *o, struct str bytes, struct err *e) MUST_CHECK;
// Ends the archive and signs it. key: the PEM of signature_make(), whose errors it may return; len 0: it is not
// signed.
int bundle_out_end(struct bundle_out *o, struct str key, struct err *e) MUST_CHECK;
uint64_t bundle_out_size(const struct bundle_out *o); // bytes of the file

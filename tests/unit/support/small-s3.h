// SPDX-License-Identifier: Apache-2.0
// Engines for tests of buckets: the small S3 of the tests (tests/e2e/small_s3.py), and versitygw where it is.
#pragma once

#include "lib/base/buf.h"

struct engine;

// Starts the small S3 with these options (NULL at the end; NULL: none), and puts its keys into the environment.
struct engine *small_s3_new(const char *const *options);
// Starts versitygw on a folder of its own, with the same keys. NULL: it is not there.
struct engine *versitygw_new(void);
void engine_free(struct engine *g); // NULL is fine
const char *engine_url(const struct engine *g);
// A bucket that no test has used, configured for this engine. Borrowed until engine_free().
const char *engine_bucket(struct engine *g);
// A request under /-/ of the small S3. out: NULL, or gets the body.
void small_s3_control(struct engine *g, const char *method, const char *what, const char *body, struct buf *out);

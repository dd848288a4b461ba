// SPDX-License-Identifier: Apache-2.0
// What the engines of all buckets honour that a configuration names (lib/place/s3-probe.h), for `serve`, which starts
// or does not, and `doctor`. The main thread.
#pragma once

#include "lib/place/s3-probe.h"
#include "lib/state/config/config.h"

typedef void probe_places_fn(void *ctx, const char *address, enum s3_probe_result result, const char *what, const char *words);
// Tells one finding after the other, and returns the worst result; S3_PROBE_FINE where there is no bucket.
// catalog_path: what looks like an attack is tried once a day, which a file beside the catalog notes
// (STATE_FILE_PROBED); NULL: now.
enum s3_probe_result probe_places(const struct config *c, const char *catalog_path, probe_places_fn *fn, void *ctx);

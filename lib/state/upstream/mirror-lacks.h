// SPDX-License-Identifier: Apache-2.0
// What a mirror (mirror.h) lacks: files that are not in the caches, and files that clients do not find because no page
// that is known lists them, or because they are not offered. One thread at a time.
#pragma once

#include "lib/state/upstream/mirror.h"
#include "lib/state/upstream/upstream.h"

struct mirror_lacks {
	uint64_t files, bytes; // of the mirror, as far as their sizes are known
	uint64_t projects;
	uint64_t gone;     // files that are in no cache
	uint64_t unlisted; // files that are, and that clients do not find
	char *first;       // one of them, and why; NULL: nothing is lacking
};

// c NULL: there is no catalog, and so no page. Errors of upstream_load_cached_any(). The caller releases *out if this
// returns 0.
int mirror_lacks_look(const struct config *config, const char *catalog_path, struct upstreams *u, struct catalog *c,
	const struct mirror *m, struct mirror_lacks *out, struct err *e) MUST_CHECK;
void mirror_lacks_release(struct mirror_lacks *l); // for CLEANUP; zeros are allowed
// Calls fn with each mirror that lacks something. The catalog is opened, if there is one. Errors also of
// catalog_open_read() and mirror_each().
typedef void mirror_lacks_fn(void *ctx, const struct mirror *m, const struct mirror_lacks *l);
int mirror_lacks_each(const struct config *config, const char *catalog_path, mirror_lacks_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// "2 of 31 files are not here, …" Appends it.
void mirror_lacks_words(const struct mirror_lacks *l, struct buf *out);

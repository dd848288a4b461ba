// SPDX-License-Identifier: Apache-2.0
// Which wheels of a store are to be rebuilt, because a platform no longer offers what they need
// (auditor/rebuild/rebuild.h). Reads the catalog, and files that the catalog has no facts of. Writes nothing. One
// thread at a time; any thread may read a list.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auditor/rebuild/rebuild.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct rebuild_row { // a wheel on a platform
	const struct platform *platform;
	const char *project, *version; // version: in normal form
	const char *filename;
	char sha256[SHA256_HEX + 1];
	enum rebuild_state state;
	const char *why; // "": it fits
	const struct rebuild_reason *reason;
	size_t reasons;
	bool is_yanked;          // only known of projects with wheels to be rebuilt, as the next two
	unsigned build;          // the build tag for a new one: above all of this version and tags there; else 0
	const char *replacement; // a wheel that clients take instead, with a higher build tag; NULL: none
};

struct rebuild_platform {
	const struct platform *platform;
	const char *provides; // NULL: unknown
	uint64_t total[REBUILD_STATE_COUNT];
};

// All is in text. Platforms are borrowed from the store.
struct rebuild_list {
	int64_t made; // seconds since 1970
	struct rebuild_platform *platform;
	size_t platforms;
	uint64_t total[REBUILD_STATE_COUNT];
	struct rebuild_row *row; // by platform, project, file name
	size_t rows, room;
	struct arena text;
};

struct rebuild_options {
	const char *const *platform; // globs; none: all
	size_t platforms;
	const struct audit_policy *policy; // of libraries that may be absent, as for the audit; NULL: none
	const char *against;               // a root or a list, for all platforms; NULL: what [platform] provides names
};

// ERR_USAGE: no platform is chosen, or of none it is known what it offers. Errors of platform-offer.h and catalog.h.
// The caller releases *out if this returns 0; the store must outlive it.
int rebuild_list_make(const struct store *store, struct catalog *c, const struct rebuild_options *options,
	struct rebuild_list *out, struct err *e) MUST_CHECK;
void rebuild_list_release(struct rebuild_list *l); // for CLEANUP; all zero is fine
// Whether the wheel is to be built again: it does not fit, and no other took its place.
bool rebuild_row_is_wanted(const struct rebuild_row *r);

// The document; with all, it has rows of every state, otherwise of wheels that do not fit. The caller frees it.
//
//   {"made": time,
//    "platforms": [{"platform", "provides": path or null, "totals": {"fits": 1, …}}],
//    "totals": {…},
//    "rows": [{"platform", "project", "version", "filename", "sha256", "state", "why", "yanked": bool, "build": 1,
//              "replacement": file name or null,
//              "reasons": [{"state", "member", "library", "detail", "instead"}, all but state may be null]}]}
struct jsondoc *rebuild_list_json(const struct rebuild_list *l, bool all);

// SPDX-License-Identifier: Apache-2.0
// The verdict for one file of the store, with its reason and upstream's replacement. Doubt means keep. It decides from
// its arguments alone and reads nothing else. Any thread, but a struct verdict_upstream is for one thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/install/replacement.h"
#include "pruner/plan/policy.h"

struct upstream_answer;

enum verdict_kind {
	VERDICT_KEEP,
	VERDICT_DUPLICATE,  // upstream has this file
	VERDICT_SUPERSEDED, // upstream's other files do what it does
	VERDICT_PURE,       // only on request: pure Python, and upstream has its sdist
	VERDICT_OFF_LIST,   // only on request: on no list
	VERDICT_UNUSABLE,   // no environment of its platform installs it
	VERDICT_CORRUPT,    // it is quarantined
	VERDICT_COUNT,
};
extern const char *const verdict_name[VERDICT_COUNT]; // "keep", "off-list", …

// Why the file is not removed.
enum verdict_why {
	VERDICT_REMOVES, // it is removed
	VERDICT_IN_VIEW,
	VERDICT_LOCKED,
	VERDICT_LISTED,
	VERDICT_PINNED,
	VERDICT_TOO_YOUNG,
	VERDICT_UPSTREAM_TOO_YOUNG,
	VERDICT_DOWNLOADED,
	VERDICT_UPSTREAM_UNKNOWN,
	VERDICT_UPSTREAM_ABSENT,
	VERDICT_YANKED_UPSTREAM,
	VERDICT_NOT_COVERED,
	VERDICT_NO_PROFILE,
	VERDICT_SDIST,
	VERDICT_NOT_ASKED,  // unusable or corrupt, and not requested
	VERDICT_TAKEN_OVER, // upstream's project may be another one that was registered later
	VERDICT_UNCERTAIN,  // its name cannot be parsed, or has too many tags
	VERDICT_WHY_COUNT,
};
extern const char *const verdict_why_name[VERDICT_WHY_COUNT]; // "listed", "upstream-unknown", …; NULL for REMOVES

// A file of the store, as in the catalog. Borrowed.
struct verdict_file {
	const char *filename;
	const char *project;         // normalised; NULL: unknown, of a corrupt file
	const char *version;         // normalised; NULL: unknown
	const uint8_t *sha256;       // NULL: the file was not read
	int64_t mtime;               // seconds since 1970
	const char *requires_python; // NULL: none
	const char *refusal;         // why it is quarantined; NULL: it is not
	bool was_downloaded;         // policy_was_downloaded
	const char *view;            // one whose membership has it (pins_find); NULL: none
	const char *lock;            // the path of a lock that names it (kept_locks_find); NULL: none
};

// Upstream's side of one project, for all of its files on all platforms. One thread at a time.
struct verdict_upstream {
	const struct upstream_answer *answer; // borrowed; NULL: upstream was not asked
	struct replacement *replacement;            // NULL: unknown
	bool is_younger; // not NAME_AGE_OLDER (lib/state/upstream/name-owner.h): the name may have been taken over
};
// The caller sets is_younger. project and answer must outlive u. To be released.
void verdict_upstream_init(struct verdict_upstream *u, const char *project, const struct upstream_answer *answer);
void verdict_upstream_release(struct verdict_upstream *u);

struct verdict {
	enum verdict_kind kind;
	enum verdict_why why;
	bool removes;      // why is REMOVES
	struct buf reason; // in words, for people
	// Upstream's file of this name, or its file for the first environment. Borrowed from the answer's page. NULL:
	// none.
	const struct simplepage_file *file;
	bool is_identical;               // its SHA-256 is ours
	struct replacement_answer evidence; // each environment in which ours installs, with upstream's file for it
};

// To be released. now: seconds since 1970.
void verdict_decide(const struct policy *policy, const struct platform *platform, const struct verdict_file *file,
	const struct verdict_upstream *upstream, int64_t now, struct verdict *out);
void verdict_release(struct verdict *v);

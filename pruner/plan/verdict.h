// SPDX-License-Identifier: Apache-2.0
// What is to become of one file of the store: exactly one word, why, and what upstream has in its place. Doubt means
// keep. Decides by what it is given, and reads nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/domain/index/coverage.h"
#include "pruner/plan/policy.h"

struct upstream_answer;

enum verdict_kind {
	VERDICT_KEEP,
	VERDICT_DUPLICATE,  // upstream has this file
	VERDICT_SUPERSEDED, // upstream's other files do what it does
	VERDICT_PURE,       // only where asked for: pure Python, and upstream has its sdist
	VERDICT_OFF_LIST,   // only where asked for: on no list
	VERDICT_UNUSABLE,   // nothing of its platform installs it
	VERDICT_CORRUPT,    // it is quarantined
	VERDICT_COUNT,
};
extern const char *const verdict_name[VERDICT_COUNT]; // "keep", "off-list", …

// Why it is not removed.
enum verdict_why {
	VERDICT_REMOVES, // it is
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
	VERDICT_NOT_ASKED,  // unusable, corrupt: without their option
	VERDICT_TAKEN_OVER, // upstream's project may be another one, registered later
	VERDICT_UNCERTAIN,  // what it is cannot be told: its name, or too many tags
	VERDICT_WHY_COUNT,
};
extern const char *const verdict_why_name[VERDICT_WHY_COUNT]; // "listed", "upstream-unknown", …; NULL of REMOVES

// A file of ours, as the catalog has it. Borrowed.
struct verdict_file {
	const char *filename;
	const char *project;         // normalised; NULL: not known, of a file that is corrupt. So too
	const char *version;         // in its normal form
	const uint8_t *sha256;       // NULL: it was not read
	int64_t mtime;               // seconds since 1970
	const char *requires_python; // NULL: none
	const char *refusal;         // why it is quarantined; NULL: it is not
	bool was_downloaded;         // within policy->downloaded, or nobody can tell; false where that is 0
};

// What upstream has of one project, for all files of it on all platforms. One thread at a time.
struct verdict_upstream {
	const struct upstream_answer *answer; // borrowed; NULL: nobody asked, which is unknown
	struct coverage *coverage;            // NULL: unknown
	bool is_younger; // all of its files are younger than ours (lib/state/upstream/name-owner.h): the name may have been taken over
};
// is_younger is for the caller to set. project and the answer have to outlive it. To be released.
void verdict_upstream_init(struct verdict_upstream *u, const char *project, const struct upstream_answer *answer);
void verdict_upstream_release(struct verdict_upstream *u);

struct verdict {
	enum verdict_kind kind;
	enum verdict_why why;
	bool removes;      // why is REMOVES
	struct buf reason; // in words, for people
	// What upstream has: the file of this name, or for what others do together that of the first environment. Of the
	// answer's page. NULL: nothing.
	const struct simplepage_file *file;
	bool is_identical;               // its SHA-256 is ours
	struct coverage_answer evidence; // each environment in which ours installs, and what upstream has there
};

// To be released. now: seconds since 1970.
void verdict_decide(const struct policy *policy, const struct platform *platform, const struct verdict_file *file,
	const struct verdict_upstream *upstream, int64_t now, struct verdict *out);
void verdict_release(struct verdict *v);

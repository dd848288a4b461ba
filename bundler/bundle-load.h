// SPDX-License-Identifier: Apache-2.0
// Loads a bundle (bundle.h) into the store, beside a running server and as an upload would: each file whole or not at
// all, with its yank from its first moment on, its attachments, its times and who uploaded it. Nothing is stored
// before all of the bundle was read and found right. It may be killed at any time: the next call goes on.
//
// What is here stays. A file with other bytes under its name is reported, and so is one that was removed here. The
// marks of a file follow the bundle unless they were changed here after it was made. One thread.
#pragma once

#include "bundler/bundle-in.h"
#include "bundler/bundle-views.h"
#include "lib/state/access/audit.h"
#include "lib/state/publish/upload-policy.h"
#include "lib/view/view.h"

struct wheel_gate;

enum bundle_outcome {
	BUNDLE_STORED,
	BUNDLE_SAME,        // it was here
	BUNDLE_MARKED,      // it was, and its yank, its attachments or the status of its project changed
	BUNDLE_KEPT,        // its mark is newer here
	BUNDLE_REMOVED,     // it was removed here
	BUNDLE_REFUSED,     // it cannot be taken here
	BUNDLE_OTHER_BYTES, // its name has other bytes here
	BUNDLE_OUTCOME_COUNT,
};
extern const char *const bundle_outcome_name[BUNDLE_OUTCOME_COUNT]; // "stored", "same", …

// What is reported by name.
struct bundle_note {
	enum bundle_outcome outcome;
	const char *platform, *name, *why;
};

struct bundle_loading {
	const struct site *site;
	struct catalog *catalog;
	struct audit *audit; // NULL: nothing is stored
	const char *by;      // the account
	struct bundle_renames renames;
	const char *osv;              // the folder for records of the OSV database; NULL: they are left out
	bool takes_facts;             // what is inside wheels is noted
	bool is_strict;               // files are refused as an upload of them would be:
	struct wheel_gate *gate;      // borrowed; NULL: wheels are not audited
	struct upload_policy *policy; // borrowed; NULL: all are accepted
	void (*progress)(void *ctx, uint64_t files, uint64_t bytes); // that were read; NULL is fine
	void *ctx;
};

// The caller releases it, whatever was returned; all zero is a new one.
struct bundle_loaded {
	uint64_t files[BUNDLE_OUTCOME_COUNT]; // of bundle_load_check(): what would become of them
	uint64_t bytes;                       // that were stored, or would be
	struct bundle_note *note;             // of outcomes from BUNDLE_KEPT on; the first LIMIT_BUNDLE_ROWS
	size_t notes, room;
	struct arena text;
};
void bundle_loaded_release(struct bundle_loaded *l); // for CLEANUP

// Reads all of it and stores nothing. ERR_USAGE: a platform or a view is not here; ERR_CONFLICT: another membership
// is, or a file that the bundle omits is not; ERR_FULL: no room for all of it. Errors of bundle_in_read() and the
// catalog.
int bundle_load_check(struct bundle_in *in, const struct bundle_loading *l, struct bundle_loaded *out,
	struct err *e) MUST_CHECK;
// After bundle_load_check() of the same bundle has returned 0. On an error a part is stored, each file of it whole: a
// disk that is full, a platform that is frozen.
int bundle_load_run(struct bundle_in *in, const struct bundle_loading *l, struct bundle_loaded *out,
	struct err *e) MUST_CHECK;

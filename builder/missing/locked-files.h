// SPDX-License-Identifier: Apache-2.0
// What lock files name, and what a client of our platforms gets for it: a row for each lock, platform and file that
// installs there. A job that installs from the lock fails if a file that it wants is missing, or has other bytes. It
// reads the catalog and asks upstream once for each project; it does not change the store. One thread at a time; any
// thread may read a result.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/missing/missing.h"
#include "lib/domain/machine/marker.h"
#include "lib/install/fits.h"

enum locked_status {
	LOCKED_HERE,        // a file of ours has these bytes
	LOCKED_UPSTREAM,    // upstream's file has
	LOCKED_COOLING,     // upstream's file is not offered yet: its age, or a hold
	LOCKED_UNKNOWN,     // it is not here, and what upstream has is not known
	LOCKED_MISSING,     // there is no such file, or clients do not get it: it is blocked or denied, or its project is in quarantine
	LOCKED_OTHER_BYTES, // the file of this name, or each of this version, has another hash
	LOCKED_CONFLICT,    // of requirements without a lock: two of them permit no version together
	LOCKED_STATUS_COUNT,
};
extern const char *const locked_status_name[LOCKED_STATUS_COUNT]; // "here", …, "other-bytes"

struct locked_row {
	const char *lock; // its path; that of requirements too
	unsigned line;    // of the file, or of its package; of the requirement that leads to it
	const char *platform, *project;
	const char *pythons;  // where it counts, with blanks between: "3.10 3.11"
	const char *version;  // NULL: the lock names none
	const char *filename; // NULL: the lock has hashes only, and no listed file has one of them
	const char *sha256;   // of the lock, in hexadecimal; NULL: it has none
	bool is_wanted;       // the installer takes it on at least one of these Pythons
	enum locked_status status;
	int64_t offered; // COOLING: when the file will be offered, in seconds since 1970; 0: when a hold ends, or never
	const char *why; // a sentence without a full stop
	const char *by;  // of requirements without a lock: what wants it; NULL: a lock
};

struct locked_files {
	struct locked_row *row; // by lock, platform, then as the lock has them
	size_t rows, room;
	size_t skipped; // packages that no index has: of a version control, a folder, a URL
	struct arena text;
};

// path: of the lock files. choice: which extras and groups count. Of the options platform, platforms, python, view,
// is_offline, has_retired and the progress count. Errors of lock_read(), upstream.h and catalog.h; ERR_NOT_FOUND: no
// scan has read a platform; ERR_USAGE: none of the platforms has such a Python; ERR_LIMIT: LIMIT_MISSING_ROWS. The
// caller releases *out if this returns 0.
int locked_files_find(const struct config *c, const struct store *store, struct catalog *catalog,
	const char *const *path, size_t paths, const struct marker_choice *choice,
	const struct missing_options *options, struct locked_files *out, struct err *e) MUST_CHECK;
void locked_files_release(struct locked_files *l);
// Puts rows that others added into the order.
void locked_files_sort(struct locked_files *l);
// Adds the places that the options choose: the Pythons of our platforms, in the store's order. The errors above.
int locked_files_places(const struct store *store, struct catalog *catalog, const struct missing_options *options,
	struct fits *fits, struct err *e) MUST_CHECK;

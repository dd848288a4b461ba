// SPDX-License-Identifier: Apache-2.0
// What is missing: for each platform, Python, project and version that a branch wants, one status and why. It reads the
// catalog and asks upstream once for each project. It does not change the store. One thread at a time; any thread may
// read a result.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/format/jsondoc.h"
#include "lib/install/wheel-status.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

struct rebuild_set;
struct results;

// The sdist to build from. Strings are borrowed from the result.
struct missing_sdist {
	const char *filename; // NULL: there is none
	const char *url;      // of an sdist of ours "file:" and its path below the platform; else upstream's
	const char *sha256;   // hexadecimal; NULL: upstream gives none
	int64_t size;         // bytes; -1: unknown
};

// What earlier attempts say about a row. Only for AWAITING and FAILED.
struct missing_attempts {
	unsigned count;     // failures in a row
	int64_t last;       // when the last one began, seconds since 1970
	int64_t retry;      // when it is to be tried again; 0: never by itself
	const char *result; // "failed", "timed-out", …; NULL: there are no attempts
	const char *step;   // "build", …
	const char *recipe; // of the last attempt (struct results_attempt)
};

struct missing_row {
	const char *platform, *python, *project;
	const char *version; // NULL: none is known
	enum wheel_status status;  // one of wheel_status_missing
	int64_t offered;           // COOLING: when the file will be, in seconds since 1970; 0: when a hold ends, or never
	const char *why;           // a sentence without a full stop
	uint64_t micros;           // where it is wanted: bit n is x.y.n
	const char *const *branch; // names, in the order of the configuration
	size_t branches;
	struct missing_sdist sdist;
	struct missing_attempts attempts;
	bool is_listed; // some file of the version is on a page that who reads this may read; without a version, of the project
	unsigned build; // the build tag of the new wheel, in place of one that is to be rebuilt; 0: as it is built
};

struct missing_environment {
	const char *platform, *python;
	uint64_t total[WHEEL_STATUS_COUNT];
};

// A requirements or constraints file of a branch, as it was read.
struct missing_file {
	const char *name;   // without folders, which clients of a server need not know
	const char *kind;   // "requirements", "constraints"
	const char *sha256; // hexadecimal
};

struct missing_branch {
	const char *name;
	const char *until; // NULL: no end
	bool is_over;
	const struct missing_file *file; // in the order in which they were read; those that they include too
	size_t files;
};

// The three arrays are heap arrays. Strings, and the arrays of branch names of the rows, are in text.
struct missing {
	int64_t made; // seconds since 1970
	struct missing_branch *branch;
	size_t branches;
	struct missing_environment *environment; // platforms in the store's order, Pythons in the profile's
	size_t environments;
	uint64_t total[WHEEL_STATUS_COUNT]; // of all rows, also of those that are not in row
	struct missing_row *row;              // by environment, project, version
	size_t rows;
	struct arena text;
};

struct missing_options {
	const char *branch;          // a glob; NULL: all
	const char *const *platform; // globs; none: all
	size_t platforms;
	const char *python;  // "3.12"; NULL: all
	const char *project; // normal form: only this one; NULL: all
	const char *view;    // wheels of ours that are not in its membership are not there; NULL: all are
	bool has_retired;    // retired platforms too: what their clients have is kept
	bool wants_pure;     // PURE is MISSING instead
	bool wants_all;      // keeps rows of every status; otherwise MISSING, FAILED, AWAITING, UNKNOWN and IMPOSSIBLE
	const struct rebuild_set *rebuild; // wheels that count as not there; NULL: none
	int64_t cpu_end;                   // clock_thread_ms() at which this has taken too long; 0: never
	bool is_offline;                   // upstream is not asked: the catalog's last answers count
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // of look-ups; NULL: none
	void *ctx;
};

// results: what was built before; NULL: nothing. ERR_NOT_FOUND: the membership of the view is not known. ERR_USAGE: no
// [branch], the files of a branch (branch.h), a platform
// whose Pythons are unknown, an environment that no branch has. ERR_BUSY: it took too long. Errors of catalog.h. With
// is_offline nothing is written. The caller releases *out if this returns 0.
int missing_make(const struct config *c, const struct store *store, struct catalog *catalog, struct results *results,
	const struct missing_options *options, struct missing *out, struct err *e) MUST_CHECK;
// Whether a table has a column for the status: there is none for one that only views with a membership have.
bool missing_has_column(const struct missing *m, enum wheel_status status);
// For CLEANUP; all zero is fine.
void missing_release(struct missing *m);

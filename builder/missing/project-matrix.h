// SPDX-License-Identifier: Apache-2.0
// The wheels of one version of a project in each environment (platform and Python): where ours install, where
// upstream's do, and what becomes of the others. It reads the catalog, the build results and the stored answers of
// upstream, and never asks upstream. One thread at a time for each maker; any thread may read a matrix.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/install/wheel-status.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"

struct results;

struct matrix_cell {
	const char *platform, *python; // "ubuntu-22.04-x86_64", "3.12"
	enum wheel_status state; // one of wheel_status_matrix
	const char *filename; // of the wheel that installs there; NULL: none
	const char *from;     // the platform that has it; NULL: none of ours
	const char *index;    // of another platform's: the path of the index that shows it there, "/simple/"; else NULL
	const char *why;      // a sentence without a full stop
	int64_t since;        // seconds since 1970; 0: unknown
	const char *attempt;  // the id of the newest attempt to build this version there; NULL: none
	bool has_log;         // of that attempt
	bool is_lost;         // the version before has a wheel that installs there, and this one has none
};

// Of a project that only upstream has: what pip takes in an environment.
struct matrix_newest {
	const char *platform, *python;
	const char *version, *filename; // NULL: no file installs there
	bool is_sdist;                  // it must be built there
	// The newest version beyond that one that is not yanked and no pre-release, how many there are, and why this
	// one does not install; NULL: there is none
	const char *newer, *why;
	size_t newers;
};

enum { MATRIX_CONFLICTS = 20 };
// A file name that two upstreams list with other bytes.
struct matrix_conflict {
	const char *filename, *counts, *other; // the upstream whose file counts, and the other one
};

// A wheel of upstream whose METADATA says what the version, or else what the project is.
struct matrix_metadata {
	const char *filename;
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE]; // of METADATA
};

enum { MATRIX_METADATAS = 1000 }; // number of these that are named

// A version that we have, with its listed files on all platforms of the matrix; or one of upstream's.
struct matrix_release {
	const char *version; // in normal form, in the spelling of one of its files
	struct str key;      // sorts as PEP 440 orders; equal versions have equal keys
	bool is_prerelease;
	bool is_yanked; // all of its files are
	size_t files, wheels;
	uint64_t bytes;
	int64_t first, last; // when the first and the last of its files came, seconds since 1970
	const char *requires_python; // of upstream's; NULL: none is known
};

struct project_matrix {
	const char *project;
	const char *version;            // NULL: nothing is known of the project
	const char *before;             // the version before, which has a wheel somewhere; NULL: none
	const char *tried;              // the newest later version that was tried to be built; NULL: none
	bool is_upstreams;              // we have no file of the project: the versions are upstream's
	struct matrix_release *release; // of ours, or upstream's where has_upstreams is set; the newest first
	size_t releases, release_room;
	// What the options ask for of a project that only upstream has
	bool has_upstreams;
	struct matrix_newest *newest; // in the order of the cells, without those whose clients do not get upstream's files
	size_t newests;
	struct matrix_metadata *metadata; // those of the version, then of others, the newest first
	size_t metadatas, metadata_room;
	struct matrix_cell *cell; // in the order of the platforms, and in each of the Pythons
	size_t cells;
	size_t count[WHEEL_STATUS_COUNT], lost; // cells
	size_t others;                          // cells with a wheel of another platform
	struct {
		enum upstream_result result; // of the last request
		bool is_known;               // its files, or that it has none, perhaps from an earlier request
		int64_t asked;               // seconds since 1970; 0: never
		int64_t fetched;             // when what is known was last confirmed; 0: never
		const char *newest;          // the version that pip would take; NULL: none is known
		struct matrix_conflict *conflict;
		size_t conflicts; // at most MATRIX_CONFLICTS
		size_t hidden;               // files that are not offered
	} upstream;
	struct arena text;
};

// Platforms whose files one view shows together.
struct matrix_view {
	const struct platform *const *platform;
	size_t platforms;
	const char *membership; // only its members count; NULL: all listed files
	int64_t generation;     // of the membership (catalog-view.h)
	const char *name;       // NULL: the default view
};

// What is the same for all projects. Borrowed for the life of the maker. Private platforms that a client may not read
// must be in none of the lists: then nothing of them is in a matrix.
struct project_matrix_options {
	const struct config *config;
	const struct platform *const *platform; // the rows of the matrix
	size_t platforms;
	const struct matrix_view *view; // a wheel of a platform covers another platform if a view has both
	size_t views;
	const bool *lacks_upstream; // by platform: its clients do not get upstream's files; NULL: all do. Only read
				    // while the maker is opened
	const bool *is_retired;  // by platform: it has no cells (retired.h); NULL: none is. Only read then, too
	bool wants_upstreams;    // of a project that only upstream has: its versions, and what pip takes where
	bool is_of_view;         // only files that the first view shows count, also on their own platform
	struct results *results; // NULL: nothing was built
};

struct project_matrix_maker;

// ERR_USAGE: [upstream] is invalid. The caller frees *out.
int project_matrix_open(const struct project_matrix_options *options, struct project_matrix_maker **out,
	struct err *e) MUST_CHECK;
void project_matrix_free(struct project_matrix_maker *m);     // NULL is fine
void project_matrix_cleanup(struct project_matrix_maker **m); // for CLEANUP

// project: in normal form. version: NULL: the newest of ours that is not yanked, a pre-release only if there is nothing
// else; without files of ours, upstream's. Where nothing is known of the project, or of this version, out->version is
// NULL and there are no cells. Errors of catalog.h and results.h; ERR_INVALID: version is no version. The caller
// releases *out if this returns 0.
int project_matrix_make(struct project_matrix_maker *m, struct catalog *c, const char *project, const char *version,
	struct project_matrix *out, struct err *e) MUST_CHECK;
void project_matrix_release(struct project_matrix *m); // all zero is fine; for CLEANUP

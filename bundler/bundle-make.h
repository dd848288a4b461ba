// SPDX-License-Identifier: Apache-2.0
// Makes a bundle (bundle.h) of what views show: their files with yanks, attachments and times, who uploaded them, the
// statuses of their projects, and their memberships with the evidence that these stand on; of what mirrors keep of
// upstreams; of the files of ours that lock files name, without the rest of a view. The same store gives the same
// bytes, but for the time. Memory: the manifest, some hundred bytes a file. One thread.
#pragma once

#include "lib/state/access/audit.h"
#include "lib/view/view.h"

struct bundle_making {
	const struct site *site;
	struct catalog *catalog;
	const char *audit_path;  // of the audit log, which names uploaders
	const char *const *view; // names of views or platforms
	size_t views;
	const char *const *mirror; // names of mirrors
	size_t mirrors;
	const char *const
		*lock; // paths of lock files; what an installation wants of them is in it, or there is no bundle
	size_t locks;
	const char *const *osv; // paths of records of the OSV database: a .json or .zip each
	size_t osvs;
	bool takes_private; // files of private platforms too
	const char *since;  // a bundle, or its manifest: a file that it has is left out; NULL: none is
	const char *by;     // the account
	struct str key;     // signs it; len 0: it is not signed
	const char *path;   // of the bundle
	void (*progress)(void *ctx, uint64_t files, uint64_t all_files, uint64_t bytes,
		uint64_t all_bytes); // NULL is fine
	void *ctx;
};

struct bundle_made {
	uint64_t files, bytes;     // that are in it
	uint64_t omitted, members; // files that are in "since"; generations of memberships
	uint64_t size;             // of the bundle, in bytes
};

// ERR_USAGE: a view is private, unknown, or not known as a whole; ERR_NOT_FOUND: a mirror, or a file of one or of a
// lock, is not here; ERR_CONFLICT: a file has changed since it was listed; ERR_LIMIT: the manifest is too large. Errors
// of bundle-out.h, bundle_in_manifest() and the catalog.
int bundle_make(const struct bundle_making *m, struct bundle_made *out, struct err *e) MUST_CHECK;

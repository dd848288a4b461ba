// SPDX-License-Identifier: Apache-2.0
// What upstream's page says now of what was done before: whether it still justifies that a file was pruned, before its
// bytes are deleted or after, and which releases it has yanked. It decides from its arguments alone. Doubt is
// RECHECK_UNKNOWN. Any thread, but a replacement is for one thread at a time.
#pragma once

#include "lib/base/buf.h"
#include "lib/install/replacement.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

struct simplepage;
struct upstream_answer;

enum recheck_result {
	RECHECK_HOLDS,
	RECHECK_UNKNOWN,  // upstream gave no answer, or the tombstone says too little
	RECHECK_YANKED,   // upstream has yanked its file
	RECHECK_GONE,     // upstream no longer has its file, or has other bytes under the name
	RECHECK_NARROWER, // upstream has its file, but some environment of the platform has no replacement
	RECHECK_COUNT,
};

// A pruned file. Borrowed.
struct recheck_file {
	const char *filename;
	const struct tombstone *tombstone;
	bool has_bytes;              // its bytes are there, and requires_python is known
	const char *requires_python; // NULL: none
};

// Whether the file was pruned for what upstream has. False for the other reasons: a retired platform, an unusable or
// corrupt file, a file on no list.
bool recheck_is_due_to_upstream(const struct tombstone *t);
// replacement: of the answer's page (replacement_new); NULL where it has none. Appends to words why it does not hold. A
// file that was not pruned for what upstream has is RECHECK_HOLDS.
enum recheck_result recheck_tombstone(const struct platform *platform, const struct recheck_file *file,
	const struct upstream_answer *answer, struct replacement *replacement, struct buf *words);

// The releases of a project that upstream has yanked: those of which it has yanked all files (PEP 592 yanks files, PyPI
// yanks releases).
struct yanked_releases;
// project: files of other projects are skipped. index: of the page, for the marks. The arguments are copied.
struct yanked_releases *yanked_releases_new(const struct simplepage *page, const char *project, const char *index);
void yanked_releases_cleanup(struct yanked_releases **y); // for CLEANUP
// Whether any release is yanked.
bool yanked_releases_has_any(const struct yanked_releases *y);
// The text for the yank mark of a file of this release (lib/state/store/sidecar.h); NULL: the release is not yanked, or
// upstream does not have it. By the version's key (lib/domain/text/version.h), or by the file's name. Borrowed from y.
const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key);
const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename);
// Whether upstream has a file of the release that is not yanked.
bool yanked_releases_offers(const struct yanked_releases *y, const char *filename);

// SPDX-License-Identifier: Apache-2.0
// Which files a generation of a view added and removed, and for which of them an override stood in for tests. Of a file
// that a rollback brings back, that is the override by which it once came in. One thread at a time per catalog
// connection.
#pragma once

#include "lib/base/arena.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/views/membership.h"

struct generation_file {
	const char *platform, *project, *filename;
	uint8_t sha256[SHA256_SIZE];
	bool is_removed;
	const struct membership_tested *tested; // the builds that were tested in its place; usually none
	size_t testeds;
	const char *override_by, *override; // who made it, and the reason; NULL: it came by tests, or needed none
};

struct generation_files {
	struct generation_file *file; // added ones first, both as their generation has them
	size_t files;
	size_t bytes; // of the files of generations that were read
	bool is_cut;  // they are more than `most`: no file of it is known, or not all overrides
	struct arena text;
};

// packed: as struct catalog_generation has it. most: bytes that may be read. ERR_INVALID: it is damaged; and the
// catalog's errors. The caller releases *out if this returns 0.
int generation_files_read(struct catalog *c, struct str packed, size_t most, struct generation_files *out,
	struct err *e) MUST_CHECK;
void generation_files_release(struct generation_files *g); // all zero is fine; for CLEANUP
// {"platform", "project", "filename", "sha256", "change": "added" or "removed", "override": reason or null,
// "override_by", "tested": [{"sha256", "as"}]}.
// The caller owns it.
struct jsondoc *generation_file_json(const struct generation_file *f);

// SPDX-License-Identifier: Apache-2.0
// Which versions the operator's lists and branches want, so that no command removes them: [prune] packages, [prune]
// constraints, live lock files, and every [branch] that is not over. In doubt a version is wanted: of a branch's pin
// its markers are ignored, as in a constraints file of [prune]. One thread at a time.
#pragma once

#include "lib/domain/text/requirement.h"
#include "lib/install/fits.h"
#include "builder/missing/kept-locks.h"
#include "builder/missing/wanted-cells.h"
#include "lib/state/catalog/catalog.h"

struct digest;

// All zero is empty: nothing is wanted.
struct kept_versions {
	struct requirements packages, pins;
	struct kept_locks locks;
	struct branches branches;
	struct wanted_cells wanted; // of branches, where the Pythons of a platform are known
	char *trouble;              // why it is not known what is wanted; NULL: it is
};

// Reads [prune] packages and [prune] constraints. d gets the bytes of the files; NULL: none. ERR_USAGE: an invalid
// line, or a constraints file that pins nothing; ERR_NOT_FOUND, ERR_IO: a file. The caller releases both in any case.
int kept_lists_read(const struct config *c, struct requirements *packages, struct requirements *pins, struct digest *d,
	struct err *e) MUST_CHECK;

// Reads the lists and the branches; now: seconds since 1970. A file that cannot be read is out->trouble: then nothing
// may be removed. config and store are borrowed. The caller releases *out.
void kept_versions_open(const struct config *c, const struct store *s, int64_t now, struct kept_versions *out);
void kept_versions_release(struct kept_versions *k);

// Whether a list has this version on the platform, or a branch pins it there: then the reason is appended to why.
bool kept_versions_pin(const struct kept_versions *k, const char *project, const struct version *version,
	const char *platform, struct buf *why);

// Whether a line of a branch that is not over admits the version on the platform: then the reason is appended to why.
// wants_pins: only lines that pin it.
bool kept_versions_admit(const struct branches *b, const char *project, const struct version *version,
	const char *platform, bool wants_pins, struct buf *why);

// A file that a view shows.
struct kept_file {
	const struct platform *platform;
	const struct catalog_file *file;
	const struct version *version;
	bool is_gone;        // it is not on the disk, so it is nobody's choice
	const char *kept_by; // result, in text: what wants its version; NULL: nothing does
};
// Finds out which of the files of one project are wanted: by a lock, by kept_versions_pin(), or because pip takes their
// version for a branch, in any of its environments, from all these files or from those of its platform, with sdists or
// without.
void kept_versions_mark(struct kept_versions *k, const char *project, struct kept_file *file, size_t files,
	struct arena *text);

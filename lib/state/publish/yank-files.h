// SPDX-License-Identifier: Apache-2.0
// Yanks or unyanks several files for somebody who may know only of some, all or none of them: they are chosen, then all
// are checked, then marked. What the sender may not know of is as if it were not there. One thread at a time for each
// catalog connection.
//
// A word is what file_select_is() says, or the name of a wheel or an sdist, which means it on each platform, or
// PLATFORM/FILE, or its path below the store. Only files that the catalog has are meant.
#pragma once

#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/store.h"

struct yank_request {
	const char *const *select;
	size_t selects;
	const char *platform; // only on this one; NULL: on all
	const char *reason;   // of a yank; NULL: none
	bool undo;
	const char *who, *peer; // for the audit log
	// Whether the sender may know of the project's files on the platform (project NULL: of some), and may yank
	// them. Files of which it may not know are not asked about again.
	bool (*sees)(void *ctx, const struct platform *p, const char *project);
	bool (*may)(void *ctx, const struct platform *p, const char *project);
	void *ctx;
};

struct yank_file {
	const struct platform *platform; // borrowed from the store
	char *project, *name;
};

// All zero at first. The platforms of the files are not frozen while it lives, once yank_files_check() has been called.
struct yank_files {
	struct yank_file *file; // by platform and name, each once
	size_t files, room;
	struct freeze_hold *hold;
	size_t holds;
};

extern const char *const yank_files_action[2]; // for the audit log; 1: undo
// Adds the files. ERR_USAGE: a word is none of these; ERR_NOT_FOUND: one means no file, or there is no such platform;
// ERR_DENIED: the sender may not yank one of the files; ERR_LIMIT: more than LIMIT_YANK_FILES; errors of the catalog.
int yank_files_choose(const struct yank_request *r, const struct store *s, struct catalog *c, struct yank_files *out,
	struct err *e) MUST_CHECK;
// Whether all of them can be marked. ERR_BUSY: a platform is frozen, or its volume does not answer; errors of the
// store.
int yank_files_check(struct yank_files *f, struct catalog *c, struct err *e) MUST_CHECK;
// Marks them, and writes a line of the audit log for each. An error names the first file that was not marked.
int yank_files_mark(const struct yank_request *r, const struct yank_files *f, struct catalog *c, struct audit *audit,
	struct err *e) MUST_CHECK;
void yank_files_release(struct yank_files *f); // for CLEANUP

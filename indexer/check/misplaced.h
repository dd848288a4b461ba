// SPDX-License-Identifier: Apache-2.0
// Which files lie in the folder of another project. A folder names a project as <letter>/<project>
// or <project> below the platform; files elsewhere are never misplaced. <project> with files of
// several projects and none of its own is a collection of somebody who does not sort by project
// ("old", "team-a"), and its files are not misplaced either.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A misplaced file; strings are borrowed for the call.
typedef void misplaced_fn(void *ctx, int64_t platform, const char *folder, const char *filename, const char *project);

struct layout_stray;

struct misplaced {
	misplaced_fn *fn;
	void *ctx;
	// The folder whose files come now.
	int64_t platform;
	char *folder;   // NULL: none yet
	char *project;  // that it names, normalised; NULL: none
	bool is_sorted; // is <letter>/<project>, or has a file of the project that it names
	bool is_mixed;  // has files of several other projects
	struct layout_stray *stray;
	size_t count, room;
};

void misplaced_init(struct misplaced *l, misplaced_fn *fn, void *ctx);
void misplaced_release(struct misplaced *l);
// The files of a folder come one behind the other; fn is called when the next folder begins.
void misplaced_see(struct misplaced *l, int64_t platform, const char *folder, const char *filename,
	const char *project);
// The last folder has ended too.
void misplaced_end(struct misplaced *l);

// SPDX-License-Identifier: Apache-2.0
// Finds files that lie in the folder of another project. A folder belongs to a project if its path below the platform
// is <letter>/<project> or <project>; files elsewhere are never misplaced. A folder <project> that holds files of
// several other projects and none of its own is an unsorted collection ("old", "team-a"), and its files are not
// misplaced either. Pure. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Called for each misplaced file; the strings are valid during the call.
typedef void misplaced_fn(void *ctx, int64_t platform, const char *folder, const char *filename, const char *project);

struct misplaced_candidate;

struct misplaced {
	misplaced_fn *fn;
	void *ctx;
	// The current folder.
	int64_t platform;
	char *folder;   // NULL: there is none yet
	char *project;  // the normalised project name in its path; NULL: it has none
	bool is_sorted; // is <letter>/<project>, or has a file of its project
	bool is_mixed;  // has files of several other projects
	struct misplaced_candidate *candidate;
	size_t count, room;
};

void misplaced_init(struct misplaced *m, misplaced_fn *fn, void *ctx);
void misplaced_release(struct misplaced *m);
// Adds a file. All files of a folder must be added one after the other; fn is called when the next folder begins.
void misplaced_add(struct misplaced *m, int64_t platform, const char *folder, const char *filename,
	const char *project);
// Ends the last folder.
void misplaced_end(struct misplaced *m);

// SPDX-License-Identifier: Apache-2.0
// A folder of a static export, open to be worked in: looks at what is there, and changes it a whole
// file at a time. Never outside of the export's root, whatever links somebody makes in it. Names
// are single components. One thread.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct output_dir {
	const char *root_path; // for errors; borrowed, as the next
	int root;
	char *path; // below the root, "." is the root itself; NULL: none is open
	int fd;
	bool is_changed; // to be synced
};

// The name of a file that is being written. What a killed run left under it goes when its folder is
// entered.
extern const char output_dir_unready[];

// Nothing is open yet.
void output_dir_init(struct output_dir *f, const char *root_path, int root);
void output_dir_release(struct output_dir *f); // does not sync
// Opens the folder path, made where it is missing and make says so, and leaves the one before.
int output_dir_enter(struct output_dir *f, const char *path, bool make, struct err *e) MUST_CHECK;
// What was done is on the disk after it.
int output_dir_leave(struct output_dir *f, struct err *e) MUST_CHECK;

// Whether a file with these bytes is there; bytes NULL: with any, but not none.
bool output_dir_has_file(const struct output_dir *f, const char *name, const struct str *bytes);
bool output_dir_has_link(const struct output_dir *f, const char *name, const char *target);
int output_dir_put_file(struct output_dir *f, const char *name, struct str bytes, struct err *e) MUST_CHECK;
int output_dir_put_link(struct output_dir *f, const char *name, const char *target, struct err *e) MUST_CHECK;
// Returns 1, 0 where nothing is there, or -1.
int output_dir_remove(struct output_dir *f, const char *name, struct err *e) MUST_CHECK;
// Leaves the folder, and removes it and those above it where nothing is left in them.
int output_dir_remove_empty(struct output_dir *f, struct err *e) MUST_CHECK;

// A path taken apart.
struct output_path {
	char *folder; // as output_dir_enter wants it; to be released
	const char *name;
};
struct output_path output_path_of(const char *path);
void output_path_release(struct output_path *p);

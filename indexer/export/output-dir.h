// SPDX-License-Identifier: Apache-2.0
// The open folder of a static export: compares its files and replaces them, each whole. It never leaves the export's
// root, whatever links are in it. Names are single path components. One thread at a time. Errors are ERR_IO.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct output_dir {
	const char *root_path; // for messages; borrowed, as is root
	int root;
	char *path; // below the root; ".": the root itself; NULL: no folder is open
	int fd;
	bool is_changed; // and not synced yet
	struct timespec floor;  // no file that is put gets an older mtime
	struct timespec newest; // mtime of those that were put
};

// The name of a file that is being written. output_dir_enter removes a file of this name that a killed run left.
extern const char output_dir_tmp_name[];

// Opens no folder yet. To be released.
void output_dir_init(struct output_dir *d, const char *root_path, int root);
void output_dir_release(struct output_dir *d); // does not sync
// Leaves the open folder and opens path. With make, creates it where it is missing; without, ERR_NOT_FOUND.
int output_dir_enter(struct output_dir *d, const char *path, bool make, struct err *e) MUST_CHECK;
// Syncs the changes to the disk and closes the folder.
int output_dir_leave(struct output_dir *d, struct err *e) MUST_CHECK;

// Whether there is a file of this name with these bytes; bytes NULL: with any bytes, but not empty.
bool output_dir_has_file(const struct output_dir *d, const char *name, const struct str *bytes);
bool output_dir_has_link(const struct output_dir *d, const char *name, const char *target);
// The forms of one page in this folder. Web servers make the ETag of a file from its size and the second of its mtime.
struct output_forms {
	const char *const *name;
	size_t count;
};
// The mtime of the file is now, or some seconds later: it differs in its second from that of the file that it replaces,
// and of each of the forms (NULL: none) that has its size. Not every AFS client can set it, which is no error.
int output_dir_put_file(struct output_dir *d, const char *name, const struct output_forms *forms, struct str bytes,
	struct err *e) MUST_CHECK;
int output_dir_put_link(struct output_dir *d, const char *name, const char *target, struct err *e) MUST_CHECK;
// Returns 1, or 0 where there is no such file, or -1.
int output_dir_remove(struct output_dir *d, const char *name, struct err *e) MUST_CHECK;
// Leaves the folder, and removes it, and the folders above it, if they are empty.
int output_dir_remove_empty(struct output_dir *d, struct err *e) MUST_CHECK;

bool output_dir_is_before(struct timespec a, struct timespec b);

// A path, split into folder and name.
struct output_path {
	char *folder; // for output_dir_enter; to be released
	const char *name;
};
struct output_path output_path_of(const char *path);
void output_path_release(struct output_path *p);

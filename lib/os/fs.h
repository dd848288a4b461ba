// SPDX-License-Identifier: Apache-2.0
// File system operations whose errors name the path.
// Any thread. The caller closes the descriptors that are returned; all have O_CLOEXEC. Unless a function says
// otherwise, its errors are ERR_NOT_FOUND (nothing there), ERR_DENIED (a link loop, or a path that leads out of its
// folder), ERR_FULL (no space left, when it writes) and ERR_IO.
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// Opens path below dirfd and never outside it (RESOLVE_BENEATH). It follows links that stay inside. ERR_DENIED if "..",
// an absolute path or a link leads out.
int fs_open_beneath(int dirfd, const char *path, int flags, struct err *e) MUST_CHECK;
// Opens path below dirfd as a process would whose root folder is dirfd (RESOLVE_IN_ROOT): absolute links and ".." stay
// inside. ERR_IO also where the system cannot do this: before Linux 5.6, and in containers that forbid it.
int fs_open_in_root(int dirfd, const char *path, int flags, struct err *e) MUST_CHECK;
// Opens a directory by its path.
int fs_open_dir(const char *path, struct err *e) MUST_CHECK;
void fs_close_dir(DIR **dir); // for CLEANUP
// Returns 1 if all names in the open folder begin with a dot, 0 if not.
int fs_is_empty(int dirfd, struct err *e) MUST_CHECK;
// Adds a whole file to b; ERR_LIMIT if it exceeds b's limit. For files that the operator names, which may be links or
// pipes. Our own files are read with lib/os/safefile.
int fs_read_file(const char *path, struct buf *b, struct err *e) MUST_CHECK;
// The same of a regular file. Anything else is ERR_USAGE and is not waited for, as a pipe without a writer would be.
int fs_read_regular(const char *path, struct buf *b, struct err *e) MUST_CHECK;
// The same for an open file, whose path is for the message.
int fs_read_fd(int fd, const char *path, struct buf *b, struct err *e) MUST_CHECK;

// A new file that appears complete under its name, or not at all. One thread at a time. Both names are borrowed until
// fs_tmp_release.
struct fs_tmp {
	int fd;           // owned; open for reading and writing
	int dirfd;        // borrowed
	const char *tmp;  // its temporary name; NULL: there is no temporary file
	const char *name; // its final name
};
// Creates the temporary file tmp in the folder dirfd. No other thread or process may use that name meanwhile. A file
// that a killed process left under it is removed.
int fs_tmp_open(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, struct err *e) MUST_CHECK;
// The same with another mode than 0644 (less the umask), for files that others must not read.
int fs_tmp_open_mode(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, mode_t mode,
	struct err *e) MUST_CHECK;
// A file in the folder dirfd that never has a name, and ends with its last descriptor and mapping. name is for
// messages.
int fs_tmp_open_nameless(struct fs_tmp *t, int dirfd, const char *name, struct err *e) MUST_CHECK;
int fs_tmp_write(struct fs_tmp *t, struct str bytes, struct err *e) MUST_CHECK;
// Syncs the file and renames it to its final name. The caller syncs the folder after the last file.
int fs_tmp_publish(struct fs_tmp *t, struct err *e) MUST_CHECK;
// The same, but never replaces a file: ERR_CONFLICT if one has the final name.
int fs_tmp_link(struct fs_tmp *t, struct err *e) MUST_CHECK;
// Closes the file and removes the temporary name. For CLEANUP, also after fs_tmp_open has failed.
void fs_tmp_release(struct fs_tmp *t);
// Syncs an open folder: the names made, changed and removed in it are then on the disk.
int fs_sync_dir(int dirfd, struct err *e) MUST_CHECK;

// Gives a file that root has just created to the owner of its folder, such as the account of the service. Does nothing
// for other users. A failure is only logged, at debug level.
void fs_give_to_owner(int fd, int dirfd);
// The kind of a failed write, from errno: ERR_FULL if the disk or the quota is full or the file too large, else ERR_IO.
enum err_kind fs_kind_of_write(void);

// Creates the folder and its parents (0755) if they are missing. ERR_IO.
int fs_make_dirs(const char *path, struct err *e) MUST_CHECK;
// Creates the folder that path is in, likewise.
int fs_make_parent(const char *path, struct err *e) MUST_CHECK;
// Returns the absolute path without links; the caller frees it.
char *fs_real_path(const char *path, struct err *e) MUST_CHECK;
// Returns path relative to folder ("../../x"); both are absolute. If they have only the root in common, path itself.
// The caller frees it.
char *fs_relative_path(const char *folder, const char *path);
// The path; without its folders, unless has_folders: who reads it need not know them. Borrowed.
const char *fs_path_as_told(const char *path, bool has_folders);
// The mtime in nanoseconds since 1970; a time outside of 64 bits becomes the smallest or largest value.
int64_t fs_mtime_ns(const struct stat *st);
// Whether nothing was written to the file between the two looks, also where its times were set back: the ctime changes
// with each write.
bool fs_is_unchanged(const struct stat *a, const struct stat *b);
// Whether a change of the file after looked_at is certain to change its mtime. It is not if the mtime is within two
// seconds of looked_at, since file systems keep whole seconds (AFS) or even ones (FAT); git does the same with its
// index. An mtime further in the future was set by hand, and the next write changes it. Both in nanoseconds since 1970.
bool fs_mtime_is_reliable(int64_t mtime_ns, int64_t looked_at);

// Removes `name` in the open folder dirfd: a folder with its contents, or a single file. Nothing of that name is fine.
// Foreign programs may have filled it: with folders that nobody may read, links that lead elsewhere, or more levels
// than a process can have open files. Links are removed, never followed. It goes on after an error, so that as much as
// possible is removed. ERR_IO names what stays.
int tree_remove(int dirfd, const char *name, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The file system, with errors that name the path.
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// Opens path below dirfd and never outside it: neither "..", nor a link that leads out (RESOLVE_BENEATH),
// nor an absolute link. Links inside are followed. Returns the descriptor (O_CLOEXEC added), or -1:
// ERR_NOT_FOUND where nothing is there, ERR_DENIED where it leads out, ERR_IO for all others.
int fs_open_beneath(int dirfd, const char *path, int flags, struct err *e) MUST_CHECK;
// Opens a directory by its path.
int fs_open_dir(const char *path, struct err *e) MUST_CHECK;
void fs_close_dir(DIR **dir); // for CLEANUP
// 1: there is nothing in the open folder whose name does not begin with a dot; 0: there is.
int fs_is_empty(int dirfd, struct err *e) MUST_CHECK;
// Adds the whole of a file to b; ERR_LIMIT where it passes b's ceiling. For what the operator names, which may be a link or
// a pipe: what is ours is read by lib/os/safefile.
int fs_read_file(const char *path, struct buf *b, struct err *e) MUST_CHECK;

// The same of an open one, whose path is for the message.
int fs_read_fd(int fd, const char *path, struct buf *b, struct err *e) MUST_CHECK;

// A file on its way: it appears whole under its name, or not at all. One thread at a time. Strings
// are borrowed.
struct fs_tmp {
	int fd;           // to be written, and read
	int dirfd;        // borrowed
	const char *tmp;  // its name until it is published; NULL: there is nothing to be taken away
	const char *name; // its name then
};
// Begins one in the folder dirfd. Nobody else may use the name tmp there meanwhile; what a killed
// process left under it is thrown away.
int fs_tmp_open(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, struct err *e) MUST_CHECK;
// The same with another mode than 0644 (less the umask), as for what others are not to read.
int fs_tmp_open_mode(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, mode_t mode,
	struct err *e) MUST_CHECK;
int fs_tmp_write(struct fs_tmp *t, struct str bytes, struct err *e) MUST_CHECK;
// Gives it its name once its bytes are on the disk. The folder is to be synced after its last file.
int fs_tmp_publish(struct fs_tmp *t, struct err *e) MUST_CHECK;
// The same, but a file that has the name already stays: ERR_CONFLICT.
int fs_tmp_link(struct fs_tmp *t, struct err *e) MUST_CHECK;
// What was not published is gone. For CLEANUP, after fs_tmp_open whatever it returned.
void fs_tmp_release(struct fs_tmp *t);
// What was made, renamed or removed in an open folder is on the disk after it.
int fs_sync_dir(int dirfd, struct err *e) MUST_CHECK;

// A new file that root made belongs to whom its folder belongs: the account of a service, which goes on with what the
// operator began. Nothing is done for others.
void fs_give_to_owner(int fd, int dirfd);
// By errno, of something that could not be written: ERR_FULL where there is no room, else ERR_IO.
enum err_kind fs_kind_of_write(void);

// Makes the directory and its parents (0755) where they are missing.
int fs_make_dirs(const char *path, struct err *e) MUST_CHECK;
// Makes the directory that will hold path.
int fs_make_parent(const char *path, struct err *e) MUST_CHECK;
// The absolute path without links; to be freed by the caller.
char *fs_real_path(const char *path, struct err *e) MUST_CHECK;
// path as it is seen from folder ("../../x"), both absolute; path itself where they have nothing in
// common but the root. To be freed by the caller.
char *fs_relative_path(const char *folder, const char *path);
// Nanoseconds since 1970.
int64_t fs_mtime_ns(const struct stat *st);
// Whether what changes after this look gets another mtime. What has one within two seconds of the
// look may not, since file systems keep whole seconds (AFS) or two (FAT): it is not trusted, as git
// does it with its index. An mtime further in the future was set by hand, and a write takes it
// away.
bool fs_mtime_tells(int64_t mtime_ns, int64_t looked_at);

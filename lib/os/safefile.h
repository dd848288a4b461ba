// SPDX-License-Identifier: Apache-2.0
// Opening files of ours in a folder that may belong to another account: root's commands work in the folder of the
// service's account, which may be hostile once it was broken into. What is opened here is a regular file with one name,
// never waits for the other end of a pipe, and is reached without any link that another account could have put there. A
// symbolic link is followed in a folder of root's or our own that nobody else may write; in a sticky one of root's or our own
// where the link is root's or ours; and by who is not root in a folder that not all may write, where the link is root's, ours
// or the folder's owner's. For root, the file belongs
// to root or to its folder's owner (or to a group that writes the folder). What is made here, and nothing else, is given
// to the folder's owner (fs_give_to_owner). Errors name the path and the reason: ERR_NOT_FOUND where nothing is there,
// else ERR_IO, ERR_FULL. Thread-safe.
#pragma once

#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// What it holds may name projects, people or passwords: others do not read it, whatever the umask.
#define SAFEFILE_MODE 0640
#define SAFEFILE_FOLDER_MODE 0750

// Opens the folder that holds path, for reading where that is allowed, else O_PATH; make: folders that are missing on the
// way are made. *name, where it is wanted, gets the last part of the path, to be freed.
int safefile_parent(const char *path, bool make, char **name, struct err *e) MUST_CHECK;
// Opens a folder for reading; make: it is made where it is missing.
int safefile_folder(const char *path, bool make, struct err *e) MUST_CHECK;
// Opens a file. flags as of open(2): with O_CREAT it is made (SAFEFILE_MODE) where it is missing, with its folders.
int safefile_open(const char *path, int flags, struct err *e) MUST_CHECK;
// The same in an open folder. made, where it is wanted: whether it was made now.
int safefile_open_at(int folder, const char *name, int flags, mode_t mode, bool *made, struct err *e) MUST_CHECK;
// Makes an empty file (SAFEFILE_MODE) where nothing has the name. It is opened as O_PATH at most, so that no lock of this
// process on the file ends (fcntl(2)). -1 with errno.
int safefile_make_at(int folder, const char *name) MUST_CHECK;
// Adds the whole of a file to b; ERR_LIMIT where it passes b's ceiling.
int safefile_read(const char *path, struct buf *b, struct err *e) MUST_CHECK;
// The same rules for a file that others open: 0 where it fits them or is missing.
int safefile_check_at(int folder, const char *name, struct err *e) MUST_CHECK;
// Takes a lock file (made where missing), which ends with its descriptor or its process. ERR_BUSY where
// another process holds it, with what that wrote into it; wait: block instead.
int safefile_lock(const char *path, bool wait, const char *owner, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Opens our own files in a folder that may belong to another account, and lock files.
//
// Root's commands work in the folder of the service's account, which an attacker may control. Therefore:
// - The file is a regular file with one name. Opening never waits for the other end of a pipe.
// - A symbolic link is followed only if no other account could have put it there: in a folder of root or our own user
//   that no other account may write; in a sticky folder of root or our own user, if the link is root's or ours. A user
//   other than root also follows links in a folder that not all may write, if the link is root's, ours or the folder
//   owner's.
// - For root, the file belongs to root or to the owner of its folder (or the folder is writable by its group, but not
//   by all).
// - A file or folder that root creates here is given to the owner of its folder (fs_give_to_owner); nothing else is.
//
// Errors name the path and the reason: ERR_NOT_FOUND if nothing is there, ERR_FULL if there is no room, otherwise
// ERR_IO. The caller closes the descriptors that are returned. Any thread.
#pragma once

#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// Others may not read these files, whatever the umask: they may contain projects, user names or passwords.
#define SAFEFILE_MODE 0640
#define SAFEFILE_FOLDER_MODE 0750

// Opens the folder of path, for reading if that is allowed, otherwise with O_PATH. make: creates missing folders. If
// name is not NULL, *name becomes the last component of the path, which the caller frees.
int safefile_parent(const char *path, bool make, char **name, struct err *e) MUST_CHECK;
// Opens a folder for reading. make: creates it if it is missing.
int safefile_folder(const char *path, bool make, struct err *e) MUST_CHECK;
// Opens a file with the flags of open(2). With O_CREAT it creates a missing file (SAFEFILE_MODE) and its folders.
int safefile_open(const char *path, int flags, struct err *e) MUST_CHECK;
// The same in an open folder. If made is not NULL, *made says whether this call created the file.
int safefile_open_at(int folder, const char *name, int flags, mode_t mode, bool *made, struct err *e) MUST_CHECK;
// Creates an empty file (SAFEFILE_MODE) if nothing has the name. It opens the file with O_PATH only: closing another
// descriptor would release this process's locks on the file (fcntl(2)). Returns -1 with errno.
int safefile_make_at(int folder, const char *name) MUST_CHECK;
// Adds a whole file to b; ERR_LIMIT if it exceeds b's limit.
int safefile_read(const char *path, struct buf *b, struct err *e) MUST_CHECK;
// Checks the same rules for a file that a library opens later. Returns 0 if they hold or the file is missing.
int safefile_check_at(int folder, const char *name, struct err *e) MUST_CHECK;
// Locks a file, which it creates if it is missing, and writes owner into it. The lock ends with the descriptor that is
// returned, or with the process. If another process holds the lock: ERR_BUSY with that process's owner text as the
// message, or, with wait, it blocks.
int safefile_lock(const char *path, bool wait, const char *owner, struct err *e) MUST_CHECK;

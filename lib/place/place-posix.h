// SPDX-License-Identifier: Apache-2.0
// A place that is a folder: on a disk, on AFS, on NFS (docs/afs.md). A version is size, mtime and inode, of a file
// with its ctime, because an inode is given again at once. A new file is written under a temporary name (tempname.h)
// in its folder, synced, and linked to its name, or renamed. A lock is flock(2): of the folder itself on a local disk;
// on NFS, AFS and other shared file systems, and wherever the place is secret, of the file .wheelcache-lock in it,
// which is empty and never removed. Of a secret place only who may write there can open it, so that no other account
// holds the lock. An expected version is compared under that lock of the file's folder.
#pragma once

#include "lib/place/place.h"

enum place_posix_links {
	PLACE_POSIX_INSIDE, // links are followed as long as they stay in the place
	PLACE_POSIX_OURS,   // no link below the top is followed; what root makes belongs to the owner of its folder
	PLACE_POSIX_SECRET, // the same, and only the group may read what is made,
	PLACE_POSIX_ALONE,  // or nobody else
};

// path is absolute. root: the folder that PLACE_POSIX_INSIDE means, path itself or a folder above it. Nothing needs to
// be there.
struct place *place_posix_new(const char *root, const char *path, enum place_posix_links links);
// An open folder, which has this path, with a place of its own. Takes over the descriptor; -1: NULL.
struct place_folder *place_posix_folder(int fd, const char *path, enum place_posix_links links);
// A file of the operator, in no place. Takes over the descriptor; -1: NULL.
struct place_file *place_posix_file(int fd);

// SPDX-License-Identifier: Apache-2.0
// Which file system a folder is on, for `wheelcache doctor`. Any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct file_system {
	const char *name; // "AFS", "NFS", "a local disk"
	bool is_remote;   // other machines may change it
};

// A local disk, if that cannot be found out.
struct file_system file_system_of(const char *path);
// Tries to write to a folder: creates an empty file with a temporary name, and removes it. Neither the mode of a folder
// nor access() says who may write on AFS: ERR_IO, with the folder and the reason.
int file_system_try_write(const char *folder, struct err *e) MUST_CHECK;

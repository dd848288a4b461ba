// SPDX-License-Identifier: Apache-2.0
// Removes a folder and all in it. Foreign programs may have filled it: with folders that nobody may read, links that
// lead elsewhere, or more levels than a process can have open files. Links are removed, never followed. Any thread.
#pragma once

#include "lib/base/err.h"

// Removes `name` in the open folder dirfd: a folder with its contents, or a single file. Nothing of that name is fine.
// It goes on after an error, so that as much as possible is removed. ERR_IO names what stays.
int tree_remove(int dirfd, const char *name, struct err *e) MUST_CHECK;

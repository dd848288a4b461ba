// SPDX-License-Identifier: Apache-2.0
// The folders of a root in which the loader looks for libraries (ld.so(8), ldconfig(8)), in its order. Any thread.
#pragma once

#include <stddef.h>

#include "lib/base/err.h"

// All zero is an empty list.
struct offer_folders {
	char **path; // in the root; owned
	size_t count, room;
};

// Adds the folders of /etc/ld.so.conf, with its includes, and those that are built in. Folders that are missing are
// listed too. ERR_LIMIT: more than LIMIT_OFFER_FOLDERS, or includes; ERR_IO.
int offer_folders_find(int root, struct offer_folders *out, struct err *e) MUST_CHECK;
void offer_folders_release(struct offer_folders *f); // for CLEANUP

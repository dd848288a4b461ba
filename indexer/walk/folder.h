// SPDX-License-Identifier: Apache-2.0
// A folder of a platform during a scan. Counted; what walks changes pending and restless, what
// records changes row, and all else stays as it was made.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/state/catalog/catalog-write.h"
#include "lib/state/store/store.h"

struct folder {
	_Atomic unsigned refs;
	struct folder *parent; // NULL: the platform's root
	const struct platform *platform;
	size_t platform_index; // in the store
	char *path;            // below the platform; "" is its root
	unsigned depth;
	uint64_t share;              // of the whole scan's progress
	struct catalog_folder known; // as the catalog has it; id 0: it has not
	int64_t row;                 // its id in the catalog now, 0 until it is recorded
	dev_t device;                // of the folder on the disk: how a circle of links is seen
	ino_t inode;
	int64_t mtime_ns;
	uint64_t ignored;
	bool is_listed;           // its names were read, not only its known files looked at
	_Atomic unsigned pending; // what must end before the folder counts as done
	_Atomic bool restless;    // something in it is to be looked at again: not to be trusted
	bool is_settled;          // its mtime tells of the next change
};

// parent is kept (a reference more); name is the last component, "" with no parent for a platform's
// root.
struct folder *folder_new(struct folder *parent, const char *name);
struct folder *folder_ref(struct folder *f);
void folder_unref(struct folder *f);
// The path below the platform of a file in it; to be freed by the caller.
char *folder_file(const struct folder *f, const char *filename);
// Whether the folder on the disk is one of f and the folders above it.
bool folder_is_circle(const struct folder *f, const struct stat *st);

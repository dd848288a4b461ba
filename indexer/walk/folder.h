// SPDX-License-Identifier: Apache-2.0
// A folder of a platform during a scan, with a reference count. Any thread may take and drop references. The job that
// scans the folder sets the fields that come from the disk, the thread that handles events sets catalog_id, any thread
// the atomic fields; all else is constant after folder_new.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/state/catalog/catalog-write.h"
#include "lib/state/store/store.h"

struct folder {
	_Atomic unsigned refs;
	struct folder *parent; // NULL: the platform's root
	const struct platform *platform;
	size_t platform_index; // in the store
	char *path;            // below the platform; "" is its root
	unsigned depth;
	uint64_t share;              // of the whole scan's progress, of SHARE_ALL
	struct catalog_folder known; // its row when the scan began; id 0: there was none
	int64_t catalog_id;          // of its row; 0 until it is written
	struct place_info info;      // of its place, while it is scanned
	uint64_t ignored;          // how many of its entries are no wheel, sdist, sidecar or folder
	bool is_listed;            // its names were read; otherwise only its known entries were checked
	_Atomic unsigned pending;  // files that are not done, and one for the folder itself
	_Atomic bool needs_rescan; // the next scan must list it, whatever its mtime
	bool is_settled;           // the next change of its names changes its version too
};

// Returns one reference. Takes a reference to parent. name is the last component; a platform's root has no parent and
// the name "".
struct folder *folder_new(struct folder *parent, const char *name);
struct folder *folder_ref(struct folder *f);
void folder_unref(struct folder *f);
// The path, below the platform, of a file in the folder. The caller frees it.
char *folder_file(const struct folder *f, const char *filename);
// Whether this is f or a folder above it, by info.
bool folder_is_circle(const struct folder *f, const struct place_info *info);

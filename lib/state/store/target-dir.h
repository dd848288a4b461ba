// SPDX-License-Identifier: Apache-2.0
// The folder of a platform that a new file belongs into, and whether the file's name may be used. Any thread; a catalog
// is one thread's at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/state/store/store.h"

struct catalog;

// The folder in which the catalog lists files of the project (normalised); else <letter>/<project>. A path below the
// platform, which the caller frees. NULL on an error of the catalog.
char *target_dir_choose(const struct platform *p, struct catalog *c, const char *project, struct err *e) MUST_CHECK;
// The same, of a folder that is named after the project: for its .status (sidecar.h).
char *target_dir_named(const struct platform *p, struct catalog *c, const char *project, struct err *e) MUST_CHECK;
// Opens a folder of the platform, which the caller closes. Missing parts are made, durably; *made counts them.
// ERR_INVALID: a part is a link that leads elsewhere, perhaps to another platform. ERR_IO: the platform is empty
// although the catalog has files of it.
struct place_folder *target_dir_open(const struct platform *p, struct catalog *c, const char *folder, unsigned *made,
	struct err *e) MUST_CHECK;
// Removes the last `made` parts of the folder's path, as far as they are empty.
void target_dir_drop(const struct platform *p, const char *folder, unsigned made);
// ERR_DENIED, with the reason, if a file of this name was removed from the platform. 
int target_dir_check(const struct platform *p, struct catalog *c, struct place_folder *folder, const char *filename,
	struct err *e) MUST_CHECK;
// The same by the catalog alone: inside a transaction, which must not wait for the store's disk.
int target_dir_check_again(const struct platform *p, struct catalog *c, const char *filename, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Where in a platform a new file belongs, and whether its name may be used there. Thread-safe.
#pragma once

#include "lib/base/err.h"
#include "lib/state/store/store.h"

struct catalog;

// Where the catalog lists files of the project (normalised); else <letter>/<project>. Below the
// platform; to be freed by the caller.
char *target_dir_choose(const struct platform *p, struct catalog *c, const char *project, struct err *e) MUST_CHECK;
// Opens a folder of the platform; what is missing of it is made, and on the disk. *made counts those. ERR_INVALID: a
// part of it is a link that leads elsewhere, perhaps to another platform. ERR_IO: the platform is empty, and the
// catalog says that it is not.
int target_dir_open(const struct platform *p, struct catalog *c, const char *folder, unsigned *made,
	struct err *e) MUST_CHECK;
// Takes so many of the folder's last parts away again, as far as they are empty.
void target_dir_drop(const struct platform *p, const char *folder, unsigned made);
// ERR_DENIED where the file was removed here, with the reason; fd is the open folder.
int target_dir_check(const struct platform *p, struct catalog *c, int fd, const char *filename,
	struct err *e) MUST_CHECK;
// The same by the catalog alone: for one who holds a transaction, and must not wait for a disk.
int target_dir_check_again(const struct platform *p, struct catalog *c, const char *filename, struct err *e) MUST_CHECK;

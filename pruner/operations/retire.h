// SPDX-License-Identifier: Apache-2.0
// Retires a platform: freezes it, so that nothing is added, and unlists all of its files. A purge (purge.h) deletes the
// bytes after the grace period. The run id of the tombstones is "retire-PLATFORM". One thread.
#pragma once

#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"

// Files that a live lock names ([prune] locks) are a reason to do nothing, unless forces is set. A purge leaves their
// bytes. Files that a view has stay listed, and are reported as kept: they are to be demoted, or the view is to leave
// out the platform.
struct retire_options {
	const char *reason; // "" for none
	bool is_dry;        // only report what would be done
	bool forces;        // whatever locks name
};

// Can be repeated: it continues a run that was killed, and retires files that came later. Files that an operator
// removed by hand stay as they are. ERR_BUSY where the platform is frozen for another reason, ERR_NOT_FOUND where it
// was never scanned, ERR_IO where a file could not be unlisted, ERR_CONFLICT where a view has some, or a lock
// names some; the errors of kept_locks_read(). The caller ends the operation.
int retire(struct operation *x, const struct config *c, const struct platform *p, const struct retire_options *options,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The folder [store] views, whose files are records (lib/place/record.h). Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/place/record.h"
#include "lib/state/store/freeze.h"

// The folder of the evidence below [store] views. No view can have this name.
#define VIEWS_FILE_EVIDENCE "evidence"

// Whether the folder, or that there is none, is known within this time: a file system may hang. False: *why says why.
bool views_file_answers(const char *folder, unsigned ms, struct err *why);

// --- its freeze ---
// The freeze of all platforms freezes the folder of memberships and evidence, too: nothing is promoted, demoted or sent
// while it has the file .wheelcache-frozen (lib/state/store/freeze.h). Any thread.

// Freezes the folder, or replaces the reason, and waits for writes that are under way. Errors as of freeze_set.
int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e) MUST_CHECK;
// *was_frozen: whether it was frozen. A folder that does not exist was not.
int views_thaw(const char *folder, bool *was_frozen, struct err *e) MUST_CHECK;
// To be called before something is created in the folder, which is made if it is missing. ERR_BUSY, with the reason, if
// it is frozen. Call freeze_leave in any case.
int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e) MUST_CHECK;

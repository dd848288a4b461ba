// SPDX-License-Identifier: Apache-2.0
// The freeze of all platforms freezes the folder of memberships and evidence, too: nothing is promoted, demoted or sent
// while it has the file .wheelcache-frozen (lib/state/store/freeze.h). Any thread.
#pragma once

#include "lib/state/store/freeze.h"

// Freezes the folder, or replaces the reason, and waits for writes that are under way. Errors as of freeze_set.
int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e) MUST_CHECK;
// *was_frozen: whether it was frozen. A folder that does not exist was not.
int views_thaw(const char *folder, bool *was_frozen, struct err *e) MUST_CHECK;
// To be called before something is created in the folder, which is made if it is missing. ERR_BUSY, with the reason, if
// it is frozen. Call freeze_leave in any case.
int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The freeze: while a platform's folder holds the file .wheelcache-frozen, nothing of ours writes
// there. Reads go on. Whoever makes or removes the file by hand freezes or thaws as well, and it
// counts at once, in all processes on all machines that see the folder. Thread-safe.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/store.h"

// Its first line is the reason, a second one says who and when.
#define FREEZE_MARK ".wheelcache-frozen"

// reason may be empty. A platform that is frozen already is frozen for this reason from now on.
int freeze_set(const struct platform *p, const char *who, const char *reason, struct err *e) MUST_CHECK;
// was_frozen: whether there was a mark.
int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e) MUST_CHECK;
// 1: frozen, and the reason is added to why, as one line of plain text; 0: not; -1: the folder cannot be
// looked at. Whatever is there by the mark's name counts, also what cannot be read.
int freeze_is(const struct platform *p, struct buf *why, struct err *e) MUST_CHECK;
// Whether the reason says that the platform was retired (`wheelcache platform retire`).
#define FREEZE_RETIRED "retired"
bool freeze_is_retirement(struct str why);
// Before a write: ERR_BUSY where it is frozen, with the reason.
int freeze_check(const struct platform *p, struct err *e) MUST_CHECK;
// The same for what a retirement does itself.
int freeze_check_but_retired(const struct platform *p, struct err *e) MUST_CHECK;

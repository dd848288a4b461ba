// SPDX-License-Identifier: Apache-2.0
// The freeze: while a platform's folder holds the file .wheelcache-frozen, wheelcache writes nothing there. Reads
// continue. Creating or removing the file by hand has the same effect, at once, for all processes on all machines that
// see the folder. Any thread.
//
// A freeze waits for writes that are under way. Each step of a write holds a shared lock of the platform's place and
// checks for the file under it; a freeze creates the file, then takes the lock alone. A dead process holds no lock.
// Without locks, a step that is under way when the file appears may end shortly after the freeze.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/store/store.h"

// The first line is the reason, the second the account and the time.
#define FREEZE_MARK ".wheelcache-frozen"

enum { FREEZE_WAIT_MS = 60000 }; // for writes that are under way

// Freezes the platform, or replaces the reason if it is frozen. reason may be empty. ERR_BUSY: it is frozen, but a
// write that was under way has not ended within wait_ms. ERR_IO.
int freeze_set(const struct platform *p, const char *who, const char *reason, unsigned wait_ms,
	struct err *e) MUST_CHECK;
// Only waits for the writes that are under way; for a frozen platform.
int freeze_settle(const struct platform *p, unsigned wait_ms, struct err *e) MUST_CHECK;
// Removes the file. *was_frozen: whether there was one.
int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e) MUST_CHECK;
// 1: frozen, and the reason is appended to why as one line of plain text; 0: not; -1: the folder cannot be read.
// Anything under the file's name counts, even if it cannot be read.
int freeze_is(const struct platform *p, struct buf *why, struct err *e) MUST_CHECK;
// Whether the reason says that the platform was retired (`wheelcache platform retire`).
#define FREEZE_RETIRED "retired"
bool freeze_is_retirement(struct str why);
// ERR_BUSY, with the reason, if the platform is frozen.
int freeze_check(const struct platform *p, struct err *e) MUST_CHECK;

// A step of a write: between freeze_enter and freeze_leave no freeze of the platform returns. All zero: none.
struct freeze_hold {
	struct place_lock *lock; // owned
};
// To be called before anything in the platform's folders is created, changed or removed. ERR_BUSY, with the reason, if
// the platform is frozen. An account that can only read the folder may hold its lock forever. A freeze then reports
// that, and writes continue without the lock: one write waits a second for it, the others of the next minute do not.
// by_retirement: for the retirement itself, which may write to the platform that it has frozen. Call freeze_leave in
// any case.
int freeze_enter(const struct platform *p, bool by_retirement, struct freeze_hold *hold, struct err *e) MUST_CHECK;
void freeze_leave(struct freeze_hold *hold); // for CLEANUP

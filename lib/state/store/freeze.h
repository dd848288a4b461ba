// SPDX-License-Identifier: Apache-2.0
// The freeze: while a platform's folder holds the file .wheelcache-frozen, nothing of ours writes
// there. Reads go on. Whoever makes or removes the file by hand freezes or thaws as well, and it
// counts at once, in all processes on all machines that see the folder. Thread-safe.
//
// A write that began before ends before the freeze does: each step of a write holds a shared lock (flock(2)) of the
// platform's folder and looks for the mark under it; a freeze puts the mark there, then waits until it has that lock alone. A
// process that dies lets go of its lock. On a disk of this machine it is the folder itself that is locked, so by all processes
// of the machine. On NFS, AFS and other file systems of several machines it is the file .wheelcache-lock in it, whose lock
// the machines share as far as these carry it. Where a file system has no locks, a step that is under way as the mark
// appears ends a moment after the freeze.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/store/store.h"

// Its first line is the reason, a second one says who and when.
#define FREEZE_MARK ".wheelcache-frozen"

// On a file system of several machines: empty, and never removed.
#define FREEZE_LOCK ".wheelcache-lock"

enum { FREEZE_WAIT_MS = 60000 }; // for writes that began before

// reason may be empty. A platform that is frozen already is frozen for this reason from now on. ERR_BUSY: it is frozen, but a
// write that began before has not ended within wait_ms.
int freeze_set(const struct platform *p, const char *who, const char *reason, unsigned wait_ms,
	struct err *e) MUST_CHECK;
// The waiting alone, of a platform that is frozen.
int freeze_settle(const struct platform *p, unsigned wait_ms, struct err *e) MUST_CHECK;
// was_frozen: whether there was a mark.
int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e) MUST_CHECK;
// 1: frozen, and the reason is added to why, as one line of plain text; 0: not; -1: the folder cannot be
// looked at. Whatever is there by the mark's name counts, also what cannot be read.
int freeze_is(const struct platform *p, struct buf *why, struct err *e) MUST_CHECK;
// Whether the reason says that the platform was retired (`wheelcache platform retire`).
#define FREEZE_RETIRED "retired"
bool freeze_is_retirement(struct str why);
// ERR_BUSY where it is frozen, with the reason.
int freeze_check(const struct platform *p, struct err *e) MUST_CHECK;

// A step of a write: from freeze_enter to freeze_leave no freeze of the platform returns. All zero: none.
struct freeze_hold {
	int fd; // of the lock
	bool is_taken;
};
// Before anything is made, changed or removed in the platform's folders: ERR_BUSY where it is frozen, with the reason. An
// account that only reads the folder may hold its lock for ever: then a freeze says so, and writes go on without; one of them
// waits a second for it, the others of the next minute do not.
// by_retirement: what a retirement does itself is let in where the platform is frozen for it. To be left whatever it returned.
int freeze_enter(const struct platform *p, bool by_retirement, struct freeze_hold *hold, struct err *e) MUST_CHECK;
void freeze_leave(struct freeze_hold *hold); // for CLEANUP

// SPDX-License-Identifier: Apache-2.0
// The time by which files of upstreams are offered. It never goes back: what was offered stays so when the wall clock
// is set back, and after a restart. When the clock is set by more than an hour, or is more than 400 days after the last
// time at which a server ran, it is doubted: the time stands still, so that nothing new is offered, until the operator
// says that the clock is right.
//
// FOLDER/clock is the highest time at which the clock was right, FOLDER/clock-doubt is there while it is doubted, and
// says why. Servers of one state share both. Any thread. Errors are ERR_IO and ERR_FULL.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct right_clock;

// Reads both; they may be missing. A process has one for each folder: all that open it share it, so that a doubt that
// has ended does not come back by a clock that nobody followed. The caller closes *out. ERR_INVALID: the time is none.
int right_clock_open(const char *folder, struct right_clock **out, struct err *e) MUST_CHECK;
void right_clock_close(struct right_clock *c); // NULL is fine
// Seconds since 1970. It does not block.
int64_t right_clock_now(struct right_clock *c);
// Whether the time stands still. why: gets the reason in one line; NULL: it is not wanted.
bool right_clock_is_doubted(struct right_clock *c, struct buf *why);
// For a server, several times a second: writes what there is to write, at most every ten seconds, and reads what other
// processes wrote. How often the time has made a step so far, or a doubt began or ended.
uint64_t right_clock_follow(struct right_clock *c);
// Before a server ends.
void right_clock_save(struct right_clock *c);
// The operator says that the wall clock is right: the doubt ends. 1: there was one; 0: there was none.
int right_clock_settle(const char *folder, struct err *e) MUST_CHECK;

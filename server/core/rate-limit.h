// SPDX-License-Identifier: Apache-2.0
// A rate limiter of failed logins by client: RATE_LIMIT_AT_ONCE at once, then one each RATE_LIMIT_MS. Its memory is
// constant; two clients whose addresses have the same hash share their tries. Any thread, without a lock.
#pragma once

#include <stdint.h>

enum { RATE_LIMIT_AT_ONCE = 20, RATE_LIMIT_MS = 2000 };

struct rate_limit;

struct rate_limit *rate_limit_new(void);
void rate_limit_free(struct rate_limit *t); // NULL is fine
// A login of peer, an address as text, has failed. now: clock_ms(). Returns 0, or the milliseconds for which the client
// must wait. All addresses of an IPv6 /64 count as one, as one machine may have them all.
int64_t rate_limit_fail(struct rate_limit *t, const char *peer, int64_t now);

// SPDX-License-Identifier: Apache-2.0
// A rate limiter by client: some tries at once, then one each so many milliseconds. Its memory is constant; two clients
// whose addresses, or names, have the same hash share their tries. Any thread, without a lock.
#pragma once

#include <stdint.h>

enum { RATE_LIMIT_AT_ONCE = 20, RATE_LIMIT_MS = 2000 }; // of failed logins

struct rate_limit;

struct rate_limit *rate_limit_new(unsigned at_once, unsigned each_ms);
void rate_limit_free(struct rate_limit *t); // NULL is fine
// A client has tried something that counts as so many tries, at most at_once. peer: an address as text, or a name. now:
// clock_ms(). Returns 0, or the milliseconds for which the client must wait; then the try does not count. All addresses of
// an IPv6 /64 count as one, as one machine may have them all.
int64_t rate_limit_take(struct rate_limit *t, const char *peer, unsigned tries, int64_t now);

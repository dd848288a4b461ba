// SPDX-License-Identifier: Apache-2.0
// A rate limiter by client: some tries at once, then one each so many milliseconds. Its memory is constant; two clients
// whose addresses, or names, have the same hash share their tries. Any thread, without a lock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RATE_LIMIT_AT_ONCE = 20, RATE_LIMIT_MS = 2000 }; // of failed logins

struct rate_limit;

struct rate_limit *rate_limit_new(unsigned at_once, unsigned each_ms);
void rate_limit_free(struct rate_limit *t); // NULL is fine
// A client has tried something that counts as so many tries, at most at_once. peer: an address as text, or a name. now:
// clock_ms(). Returns 0, or the milliseconds for which the client must wait; then the try does not count. All addresses
// of an IPv6 /64 count as one, as one machine may have them all.
int64_t rate_limit_take(struct rate_limit *t, const char *peer, unsigned tries, int64_t now);

// Counts the bytes of evidence that each token has sent today (UTC), for [evidence] quota. What was counted ends with
// the server. Any thread.

struct evidence_quota;

struct evidence_quota *evidence_quota_new(void);
void evidence_quota_free(struct evidence_quota *q); // NULL is fine
// Counts bytes of a record, in blocks of 4 KB, for a token, by its id. most: of a day. now: seconds since 1970. Returns
// 0, or the seconds until the next day: then they are not counted, as they are more than is left.
int64_t evidence_quota_take(struct evidence_quota *q, const char *token, uint64_t bytes, uint64_t most, int64_t now);

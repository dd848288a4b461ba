// SPDX-License-Identifier: Apache-2.0
// Failed tries, counted by who makes them: some at once, then one now and then. Takes the same little memory however
// many there are; who share a place in it share their tries. Thread-safe, without a lock.
#pragma once

#include <stdint.h>

enum { RATE_LIMIT_AT_ONCE = 20, RATE_LIMIT_MS = 2000 };

struct rate_limit;

struct rate_limit *rate_limit_new(void);
void rate_limit_free(struct rate_limit *t); // NULL is fine
// This peer (an address, as text) has failed, at clock_ms(). 0, or the milliseconds that it must wait for now. Of IPv6
// all addresses of a /64, which one machine may have, are one peer.
int64_t rate_limit_fail(struct rate_limit *t, const char *peer, int64_t now);

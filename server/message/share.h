// SPDX-License-Identifier: Apache-2.0
// A pool that clients share: a number of places, or bytes of memory. A part of it is held in the name of an address,
// and of a token if there is one. A holder has all of the pool while nobody else wants any, and a quarter while others
// wait: where the pool is full, a holder within its share gets a part that one beyond its share has done nothing with
// for the longest time. Any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct share_pool;
struct share_holder;

enum { SHARE_HOLDERS = 2 }; // the address and the token

// Embedded in the struct of the caller, which keeps it until share_give(). Zeros at first, except for what the caller
// sets.
struct share_part {
	// Set by the caller.
	void *owner;                   // for options.end
	const atomic_long *idle_since; // clock_seconds() since when its client does nothing; NULL or 0: it is not taken back
	// Set by the module.
	struct share_part *next, *prev;
	struct share_holder *holder[SHARE_HOLDERS]; // NULL: none
	uint64_t amount;
	bool is_in, is_ended; // in the pool; taken back
};

struct share_options {
	uint64_t most;  // in all
	uint64_t share; // of one holder while others wait; 0: a quarter of most
	bool is_strict; // and also while nobody waits, but for its only part
	bool renews;    // for a new part a holder beyond its share gives one of its own
	// Takes a part back: ends what its owner does. Called under the pool's lock, and must not block. NULL: parts
	// are never taken back.
	void (*end)(void *owner);
};

struct share_pool *share_pool_new(const struct share_options *options);
void share_pool_free(struct share_pool *p); // NULL is fine. No part is in it.
// Adds to a part. The first call puts it into the pool, in the name of peer ("unix" or NULL: of no address, as of a
// proxy with many clients) and token (NULL: none). False: the part is as before, as there is no room for it, or it has
// been taken back.
bool share_take(struct share_pool *p, struct share_part *part, const char *peer, const char *token, uint64_t more);
// Whether with more a holder of a part that is in the pool would have more than its share.
bool share_is_beyond(struct share_pool *p, const struct share_part *part, uint64_t more);
// Whether an address has its share already.
bool share_is_used_up(struct share_pool *p, const char *peer);
// From now on the part is not taken back, and its owner may be gone.
void share_keep(struct share_pool *p, struct share_part *part);
// Removes the part, if it is in the pool.
void share_give(struct share_pool *p, struct share_part *part);

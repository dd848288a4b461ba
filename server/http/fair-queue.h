// SPDX-License-Identifier: Apache-2.0
// A bounded queue that is fair between clients, for work of which only a limited number or weight may be under way.
// Each address (IPv6: each /64) has a queue of its own, and entries begin round-robin by address: a client with a
// thousand entries delays another client's by one entry. "unix" is a proxy on this machine with many clients and may
// have all. Where entries can be refused after they have entered, each token of an address has a queue of its own, an
// address or a token has all of the queue and of what is under way while nobody else wants any, and its share
// (server/message/share.h) while others wait; for a client within its share there is one place more under way.
// Elsewhere an address has at most three quarters of the queue, of the entries under way and of their weight. Any
// thread.
#pragma once

#include "server/message/share.h"

enum { FAIR_QUEUE_SPARE = 1 }; // places under way beyond their number, for clients within their share

struct fair_queue;
struct fair_queue_address;

// Embedded in the struct of the caller, which keeps it until it has left or ended. Zeros at first.
struct fair_queue_entry {
	struct fair_queue_entry *next;
	struct fair_queue_address *address; // NULL: it neither waits nor is under way
	uint64_t weight;
	bool has_begun;
	struct share_part place, turn; // in the queue; under way
	atomic_long order;             // the newest is the smallest
};

struct fair_queue_options {
	unsigned under_way; // at most
	unsigned waiting;   // at most
	// Begins the work of an entry. Called by fair_queue_run(), without a lock.
	void (*begin)(void *ctx, struct fair_queue_entry *entry);
	// Instead of begin, for an entry whose place in the queue another client got. Called likewise. NULL: none is
	// refused.
	void (*refuse)(void *ctx, struct fair_queue_entry *entry);
	void *ctx;
};


struct fair_queue_counts {
	unsigned waiting, under_way;
	uint64_t weight; // of what is under way
};

struct fair_queue *fair_queue_new(const struct fair_queue_options *options);
void fair_queue_free(struct fair_queue *t); // NULL is fine. Entries that still wait never begin.
// Limits the weight of all entries under way, from now on. A heavier entry runs alone. Initially there is no limit.
void fair_queue_limit(struct fair_queue *t, uint64_t weight);
// Appends an entry to the queue of peer's address (NULL: "unix"). token: NULL for none. False: too many entries wait,
// of this client or in all.
bool fair_queue_enter(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer, const char *token,
	uint64_t weight);
// Another client wants the same work; only where entries are not refused. If the entry waits, it moves to the queue of
// that client's address if that is shorter.
void fair_queue_join(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer);
// Removes an entry that waits. False: it did not wait.
bool fair_queue_leave(struct fair_queue *t, struct fair_queue_entry *entry);
// The work of an entry has ended. Does nothing where the entry is not under way.
void fair_queue_end(struct fair_queue *t, struct fair_queue_entry *entry);
// Begins all entries that may begin, and refuses those that gave their places. Called after each of the functions
// above, without a lock that begin() takes.
void fair_queue_run(struct fair_queue *t);
void fair_queue_count(struct fair_queue *t, struct fair_queue_counts *out);

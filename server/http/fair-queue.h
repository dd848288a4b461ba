// SPDX-License-Identifier: Apache-2.0
// Turns at something of which only so much may be under way at once: a bounded queue that is fair between clients. Each
// address has a queue of its own (IPv6: each /64), and turns go round the addresses, so that a client with a thousand wishes delays
// another one's by one entry. One address has three quarters of the queue, of what is under way, and of its weight at most;
// "unix" is a proxy on this machine, behind which are many clients: it may have all. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fair_queue;
struct fair_queue_address;

// Embedded in whatever wants a entry; zeros at first.
struct fair_queue_entry {
	struct fair_queue_entry *next;
	struct fair_queue_address *address; // NULL: it neither waits nor has its entry
	uint64_t weight;
	bool has_begun;
};

struct fair_queue_options {
	unsigned under_way; // at most
	unsigned waiting;   // at most
	void (*begin)(void *ctx,
		struct fair_queue_entry
			*t); // its entry has come; called without a lock, by whoever calls fair_queue_run()
	void *ctx;
};

struct fair_queue_counts {
	unsigned waiting, under_way;
	uint64_t weight; // of what is under way
};

struct fair_queue *fair_queue_new(const struct fair_queue_options *options);
void fair_queue_free(struct fair_queue *t); // NULL is fine. What still waits is forgotten.
// Of all that is under way together, from now on; what is heavier by itself goes alone. Without it: any.
void fair_queue_limit(struct fair_queue *t, uint64_t weight);
// Puts it into the queue of peer's address (NULL: "unix"). False: too many wait, of this address or of all.
bool fair_queue_enter(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer, uint64_t weight);
// Somebody else wants the same. While it waits, it moves to his address's queue where that is shorter.
void fair_queue_join(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer);
// Takes it out of the queue. False: it did not wait.
bool fair_queue_leave(struct fair_queue *t, struct fair_queue_entry *entry);
// Its entry is over; of one that has none nothing happens.
void fair_queue_end(struct fair_queue *t, struct fair_queue_entry *entry);
// Begins with those whose entry it is. After each of the others, holding no lock that begin() takes.
void fair_queue_run(struct fair_queue *t);
void fair_queue_count(struct fair_queue *t, struct fair_queue_counts *out);

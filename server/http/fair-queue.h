// SPDX-License-Identifier: Apache-2.0
// Turns at something of which only so much may be under way at once: a bounded queue that is fair between clients. Each
// address has a queue of its own (IPv6: each /64), and turns go round the addresses, so that a client with a thousand wishes delays
// another one's by one turn. One address has three quarters of the queue, of what is under way, and of its weight at most;
// "unix" is a proxy on this machine, behind which are many clients: it may have all. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct turns;
struct turns_address;

// Embedded in whatever wants a turn; zeros at first.
struct turn {
	struct turn *next;
	struct turns_address *address; // NULL: it neither waits nor has its turn
	uint64_t weight;
	bool has_begun;
};

struct turns_options {
	unsigned under_way; // at most
	unsigned waiting;   // at most
	void (*begin)(void *ctx, struct turn *t); // its turn has come; called without a lock, by whoever calls turns_run()
	void *ctx;
};

struct turns_counts {
	unsigned waiting, under_way;
	uint64_t weight; // of what is under way
};

struct turns *turns_new(const struct turns_options *options);
void turns_free(struct turns *t); // NULL is fine. What still waits is forgotten.
// Of all that is under way together, from now on; what is heavier by itself goes alone. Without it: any.
void turns_limit(struct turns *t, uint64_t weight);
// Puts it into the queue of peer's address (NULL: "unix"). False: too many wait, of this address or of all.
bool turns_enter(struct turns *t, struct turn *turn, const char *peer, uint64_t weight);
// Somebody else wants the same. While it waits, it moves to his address's queue where that is shorter.
void turns_join(struct turns *t, struct turn *turn, const char *peer);
// Takes it out of the queue. False: it did not wait.
bool turns_leave(struct turns *t, struct turn *turn);
// Its turn is over; of one that has none nothing happens.
void turns_end(struct turns *t, struct turn *turn);
// Begins with those whose turn it is. After each of the others, holding no lock that begin() takes.
void turns_run(struct turns *t);
void turns_count(struct turns *t, struct turns_counts *out);

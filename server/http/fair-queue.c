// SPDX-License-Identifier: Apache-2.0
#include "server/http/fair-queue.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

enum {
	PATIENCE = 64, // so often one that is too heavy for now is passed by, then nothing else begins before it
	NETWORK = 8,   // bytes of an IPv6 address
};

// Only while something of it waits or is under way: so there are no more of them than that.
struct turns_address {
	struct turns_address *next; // round
	unsigned char id[sizeof(struct in6_addr)];
	bool is_shared;                        // by many clients
	struct fair_queue_entry *first, **end; // who wait
	unsigned waiting, under_way, passed;
	uint64_t weight;
};

struct fair_queue {
	struct fair_queue_options options;
	pthread_mutex_t lock;
	struct turns_address *last; // whose turn it was last; NULL: there is none
	unsigned waiting, under_way;
	uint64_t weight, most_weight;
};

struct fair_queue *fair_queue_new(const struct fair_queue_options *options)
{
	struct fair_queue *t = xcalloc(1, sizeof(*t));
	t->options = *options;
	t->most_weight = UINT64_MAX;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void fair_queue_free(struct fair_queue *t)
{
	if (!t)
		return;
	for (struct turns_address *a = t->last, *next; a; a = next) {
		next = a->next == t->last ? NULL : a->next;
		free(a);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void fair_queue_limit(struct fair_queue *t, uint64_t weight)
{
	pthread_mutex_lock(&t->lock);
	t->most_weight = weight;
	pthread_mutex_unlock(&t->lock);
}

// --- addresses: under the lock ---

static void read_id(const char *peer, unsigned char id[sizeof(struct in6_addr)])
{
	struct in6_addr six;
	struct in_addr four;
	memset(id, 0, sizeof(six));
	if (inet_pton(AF_INET6, peer, &six) == 1)
		memcpy(id, &six, IN6_IS_ADDR_V4MAPPED(&six) ? sizeof(six) : NETWORK);
	if (inet_pton(AF_INET, peer, &four) != 1)
		return;
	memset(id + 10, 0xff, 2); // as IPv6 has it: ::ffff:0:0/96
	memcpy(id + 12, &four, sizeof(four));
}

static struct turns_address *address_of(struct fair_queue *t, const char *peer)
{
	unsigned char id[sizeof(struct in6_addr)];
	const char *name = peer ? peer : "unix";
	read_id(name, id);
	struct turns_address *a = t->last;
	while (a && memcmp(a->id, id, sizeof(id)) != 0)
		a = a->next == t->last ? NULL : a->next;
	if (a)
		return a;
	a = xcalloc(1, sizeof(*a));
	memcpy(a->id, id, sizeof(id));
	a->is_shared = strcmp(name, "unix") == 0;
	a->end = &a->first;
	a->next = t->last ? t->last->next : a;
	if (t->last)
		t->last->next = a;
	t->last = a;
	return a;
}

// Where nothing of it is left.
static void forget(struct fair_queue *t, struct turns_address *a)
{
	if (a->waiting || a->under_way)
		return;
	struct turns_address *before = a;
	while (before->next != a)
		before = before->next;
	before->next = a->next;
	if (t->last == a)
		t->last = before == a ? NULL : before;
	free(a);
}

static uint64_t share(const struct turns_address *a, uint64_t all)
{
	return a->is_shared || all < 2 ? all : all - (all + 3) / 4;
}

// --- queues: under the lock ---

static void append(struct fair_queue *t, struct turns_address *a, struct fair_queue_entry *turn)
{
	turn->next = NULL;
	turn->address = a;
	*a->end = turn;
	a->end = &turn->next;
	a->waiting++;
	t->waiting++;
}

static void take_out(struct fair_queue *t, struct fair_queue_entry *turn)
{
	struct turns_address *a = turn->address;
	struct fair_queue_entry **at = &a->first;
	while (*at != turn)
		at = &(*at)->next;
	*at = turn->next;
	if (a->end == &turn->next)
		a->end = at;
	a->waiting--;
	t->waiting--;
}

static bool has_room(const struct fair_queue *t, const struct turns_address *a)
{
	return t->waiting < t->options.waiting && a->waiting < share(a, t->options.waiting);
}

static bool fits(uint64_t sum, uint64_t more, uint64_t most)
{
	return !sum || (sum <= most && more <= most - sum);
}

static bool is_too_heavy(const struct fair_queue *t, const struct turns_address *a)
{
	uint64_t weight = a->first->weight;
	return !fits(t->weight, weight, t->most_weight) || !fits(a->weight, weight, share(a, t->most_weight));
}

// The next of those that may begin; NULL: none.
static struct turns_address *choose(struct fair_queue *t)
{
	struct turns_address *a = t->last;
	do {
		a = a->next;
		if (!a->waiting || a->under_way >= share(a, t->options.under_way))
			continue;
		if (!is_too_heavy(t, a))
			return a;
		if (++a->passed > PATIENCE && fits(a->weight, a->first->weight, share(a, t->most_weight)))
			return NULL;
	} while (a != t->last);
	return NULL;
}

static struct fair_queue_entry *next(struct fair_queue *t)
{
	bool may = t->waiting && t->under_way < t->options.under_way;
	struct turns_address *a = may ? choose(t) : NULL;
	if (!a)
		return NULL;
	struct fair_queue_entry *turn = a->first;
	take_out(t, turn);
	turn->has_begun = true;
	a->passed = 0;
	a->under_way++;
	a->weight += turn->weight;
	t->under_way++;
	t->weight += turn->weight;
	t->last = a;
	return turn;
}

// --- calls ---

bool fair_queue_enter(struct fair_queue *t, struct fair_queue_entry *turn, const char *peer, uint64_t weight)
{
	pthread_mutex_lock(&t->lock);
	struct turns_address *a = address_of(t, peer);
	bool has_entered = has_room(t, a);
	turn->weight = weight;
	turn->has_begun = false;
	if (has_entered)
		append(t, a, turn);
	else
		forget(t, a);
	pthread_mutex_unlock(&t->lock);
	return has_entered;
}

void fair_queue_join(struct fair_queue *t, struct fair_queue_entry *turn, const char *peer)
{
	pthread_mutex_lock(&t->lock);
	if (turn->address && !turn->has_begun) {
		struct turns_address *before = turn->address, *a = address_of(t, peer);
		if (a->waiting < before->waiting && has_room(t, a)) {
			take_out(t, turn);
			append(t, a, turn);
			forget(t, before);
		} else {
			forget(t, a);
		}
	}
	pthread_mutex_unlock(&t->lock);
}

bool fair_queue_leave(struct fair_queue *t, struct fair_queue_entry *turn)
{
	pthread_mutex_lock(&t->lock);
	struct turns_address *a = turn->address;
	bool waits = a && !turn->has_begun;
	if (waits) {
		take_out(t, turn);
		turn->address = NULL;
		forget(t, a);
	}
	pthread_mutex_unlock(&t->lock);
	return waits;
}

void fair_queue_end(struct fair_queue *t, struct fair_queue_entry *turn)
{
	pthread_mutex_lock(&t->lock);
	struct turns_address *a = turn->address;
	if (a && turn->has_begun) {
		a->under_way--;
		a->weight -= turn->weight;
		t->under_way--;
		t->weight -= turn->weight;
		turn->address = NULL;
		forget(t, a);
	}
	pthread_mutex_unlock(&t->lock);
}

void fair_queue_run(struct fair_queue *t)
{
	struct fair_queue_entry *turn;
	do {
		pthread_mutex_lock(&t->lock);
		turn = next(t);
		pthread_mutex_unlock(&t->lock);
		if (turn)
			t->options.begin(t->options.ctx, turn);
	} while (turn);
}

void fair_queue_count(struct fair_queue *t, struct fair_queue_counts *out)
{
	pthread_mutex_lock(&t->lock);
	*out = (struct fair_queue_counts){t->waiting, t->under_way, t->weight};
	pthread_mutex_unlock(&t->lock);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/http/fair-queue.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/net/address.h"

enum {
	QUARTER = 4,
	SKIPS_MOST = 64, // so often an entry that is too heavy now is skipped; then no other one begins before it
};

// An address, or where entries are refused, a token at an address. Exists only while an entry of it waits or is under
// way, which bounds their number.
struct fair_queue_address {
	struct fair_queue *queue;
	struct fair_queue_address *next; // a ring
	uint8_t id[ADDRESS_SIZE];
	uint64_t token;                         // a hash of its name; 0: none
	bool is_shared;                         // by many clients: a proxy
	struct fair_queue_entry *first, **end; // that wait
	unsigned waiting, under_way, skipped;
	uint64_t weight;
};

struct fair_queue {
	struct fair_queue_options options;
	pthread_mutex_t lock;
	struct fair_queue_address *last; // whose entry began last; NULL: the ring is empty
	unsigned waiting, under_way;
	uint64_t weight, most_weight;
	struct share_pool *places, *turns; // NULL: entries are not refused
	struct fair_queue_entry *refused;  // not yet told
	long entered;
};

static void take_place_back(void *entry);

struct fair_queue *fair_queue_new(const struct fair_queue_options *options)
{
	struct fair_queue *t = xcalloc(1, sizeof(*t));
	t->options = *options;
	t->most_weight = UINT64_MAX;
	if (options->refuse) {
		t->places = share_pool_new(&(struct share_options){.most = options->waiting, .end = take_place_back});
		t->turns = share_pool_new(&(struct share_options){
			.most = options->under_way + FAIR_QUEUE_SPARE, .share = (options->under_way + QUARTER - 1) / QUARTER});
	}
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void fair_queue_free(struct fair_queue *t)
{
	if (!t)
		return;
	for (struct fair_queue_address *a = t->last, *next; a; a = next) {
		next = a->next == t->last ? NULL : a->next;
		free(a);
	}
	share_pool_free(t->places);
	share_pool_free(t->turns);
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

// Tokens of one address have queues of their own, or one that lets thousands wait would be before the others.
static struct fair_queue_address *find_or_add_address(struct fair_queue *t, const char *peer, const char *token_name)
{
	uint8_t id[ADDRESS_SIZE];
	const char *name = peer ? peer : "unix";
	uint64_t token = token_name && t->places ? hash_of(str_from(token_name), 0) : 0;
	address_client(name, id);
	struct fair_queue_address *a = t->last;
	while (a && (memcmp(a->id, id, sizeof(id)) != 0 || a->token != token))
		a = a->next == t->last ? NULL : a->next;
	if (a)
		return a;
	a = xcalloc(1, sizeof(*a));
	a->queue = t;
	memcpy(a->id, id, sizeof(id));
	a->token = token;
	a->is_shared = strcmp(name, "unix") == 0;
	a->end = &a->first;
	a->next = t->last ? t->last->next : a;
	if (t->last)
		t->last->next = a;
	t->last = a;
	return a;
}

static void remove_if_unused(struct fair_queue *t, struct fair_queue_address *a)
{
	if (a->waiting || a->under_way)
		return;
	struct fair_queue_address *before = a;
	while (before->next != a)
		before = before->next;
	before->next = a->next;
	if (t->last == a)
		t->last = before == a ? NULL : before;
	free(a);
}

static uint64_t share_of_address(const struct fair_queue_address *a, uint64_t all)
{
	return a->is_shared || all < 2 ? all : all - (all + 3) / 4;
}

// --- queues: under the lock ---

static void append_entry(struct fair_queue *t, struct fair_queue_address *a, struct fair_queue_entry *entry)
{
	entry->next = NULL;
	entry->address = a;
	*a->end = entry;
	a->end = &entry->next;
	a->waiting++;
	t->waiting++;
}

static void remove_entry(struct fair_queue *t, struct fair_queue_entry *entry)
{
	struct fair_queue_address *a = entry->address;
	struct fair_queue_entry **at = &a->first;
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	if (a->end == &entry->next)
		a->end = at;
	a->waiting--;
	t->waiting--;
}

// For share_options.end: under the locks of the queue and of its places.
static void take_place_back(void *owner)
{
	struct fair_queue_entry *entry = owner;
	struct fair_queue *t = entry->address->queue;
	remove_entry(t, entry);
	share_give(t->turns, &entry->turn);
	entry->next = t->refused;
	t->refused = entry;
}

static bool take_queue_place(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer, const char *token)
{
	entry->place = (struct share_part){.owner = entry, .idle_since = &entry->order};
	entry->turn = (struct share_part){0};
	atomic_store(&entry->order, LONG_MAX - ++t->entered);
	return share_take(t->places, &entry->place, peer, token, 1) && share_take(t->turns, &entry->turn, peer, token, 0);
}

static void give_place(struct fair_queue *t, struct fair_queue_entry *entry)
{
	if (t->places)
		share_give(t->places, &entry->place);
}

static void give_turn(struct fair_queue *t, struct fair_queue_entry *entry)
{
	if (t->turns)
		share_give(t->turns, &entry->turn);
}

static bool has_room(const struct fair_queue *t, const struct fair_queue_address *a)
{
	return t->waiting < t->options.waiting && a->waiting < share_of_address(a, t->options.waiting);
}

static bool fits_limit(uint64_t sum, uint64_t more, uint64_t most)
{
	return !sum || (sum <= most && more <= most - sum);
}

// The next address whose first entry may begin; NULL: none.
static struct fair_queue_address *choose_address(struct fair_queue *t)
{
	struct fair_queue_address *a = t->last;
	do {
		a = a->next;
		if (!a->waiting || a->under_way >= share_of_address(a, t->options.under_way))
			continue;
		uint64_t weight = a->first->weight;
		if (fits_limit(t->weight, weight, t->most_weight) &&
			fits_limit(a->weight, weight, share_of_address(a, t->most_weight)))
			return a;
		if (++a->skipped > SKIPS_MOST &&
			fits_limit(a->weight, a->first->weight, share_of_address(a, t->most_weight)))
			return NULL;
	} while (a != t->last);
	return NULL;
}

// The same where entries are refused: first those within their share, to whom one more place belongs.
static struct fair_queue_address *choose_sharer(struct fair_queue *t)
{
	struct fair_queue_address *a = t->last, *any = NULL;
	do {
		a = a->next;
		if (a->waiting && !share_is_beyond(t->turns, &a->first->turn, 1))
			return a;
		any = any || !a->waiting ? any : a;
	} while (a != t->last);
	return t->under_way < t->options.under_way ? any : NULL;
}

static struct fair_queue_address *choose_next(struct fair_queue *t)
{
	if (!t->waiting || t->under_way >= t->options.under_way + (t->turns ? FAIR_QUEUE_SPARE : 0))
		return NULL;
	return t->turns ? choose_sharer(t) : choose_address(t);
}

static struct fair_queue_entry *next_entry(struct fair_queue *t)
{
	struct fair_queue_address *a = choose_next(t);
	if (!a)
		return NULL;
	struct fair_queue_entry *entry = a->first;
	remove_entry(t, entry);
	give_place(t, entry);
	if (t->turns)
		share_take(t->turns, &entry->turn, NULL, NULL, 1); // there is room: under_way says it
	entry->has_begun = true;
	a->skipped = 0;
	a->under_way++;
	a->weight += entry->weight;
	t->under_way++;
	t->weight += entry->weight;
	t->last = a;
	return entry;
}

// --- calls ---

bool fair_queue_enter(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer, const char *token,
	uint64_t weight)
{
	pthread_mutex_lock(&t->lock);
	struct fair_queue_address *a = find_or_add_address(t, peer, token);
	bool has_entered = t->places ? take_queue_place(t, entry, peer, token) : has_room(t, a);
	entry->weight = weight;
	entry->has_begun = false;
	if (has_entered)
		append_entry(t, a, entry);
	else
		remove_if_unused(t, a);
	for (struct fair_queue_entry *e = t->refused; e; e = e->next)
		if (e->address)
			remove_if_unused(t, STEAL_PTR(e->address));
	pthread_mutex_unlock(&t->lock);
	return has_entered;
}

void fair_queue_join(struct fair_queue *t, struct fair_queue_entry *entry, const char *peer)
{
	pthread_mutex_lock(&t->lock);
	if (entry->address && !entry->has_begun) {
		struct fair_queue_address *before = entry->address, *a = find_or_add_address(t, peer, NULL);
		if (a->waiting < before->waiting && has_room(t, a)) {
			remove_entry(t, entry);
			append_entry(t, a, entry);
			remove_if_unused(t, before);
		} else {
			remove_if_unused(t, a);
		}
	}
	pthread_mutex_unlock(&t->lock);
}

bool fair_queue_leave(struct fair_queue *t, struct fair_queue_entry *entry)
{
	pthread_mutex_lock(&t->lock);
	struct fair_queue_address *a = entry->address;
	bool waits = a && !entry->has_begun;
	if (waits) {
		remove_entry(t, entry);
		give_place(t, entry);
		give_turn(t, entry);
		entry->address = NULL;
		remove_if_unused(t, a);
	}
	pthread_mutex_unlock(&t->lock);
	return waits;
}

void fair_queue_end(struct fair_queue *t, struct fair_queue_entry *entry)
{
	pthread_mutex_lock(&t->lock);
	struct fair_queue_address *a = entry->address;
	if (a && entry->has_begun) {
		a->under_way--;
		a->weight -= entry->weight;
		t->under_way--;
		t->weight -= entry->weight;
		give_turn(t, entry);
		entry->address = NULL;
		remove_if_unused(t, a);
	}
	pthread_mutex_unlock(&t->lock);
}

void fair_queue_run(struct fair_queue *t)
{
	struct fair_queue_entry *entry;
	do {
		pthread_mutex_lock(&t->lock);
		struct fair_queue_entry *refused = t->refused;
		t->refused = refused ? refused->next : NULL;
		entry = refused ? refused : next_entry(t);
		pthread_mutex_unlock(&t->lock);
		if (entry)
			(refused ? t->options.refuse : t->options.begin)(t->options.ctx, entry);
	} while (entry);
}

void fair_queue_count(struct fair_queue *t, struct fair_queue_counts *out)
{
	pthread_mutex_lock(&t->lock);
	*out = (struct fair_queue_counts){t->waiting, t->under_way, t->weight};
	pthread_mutex_unlock(&t->lock);
}

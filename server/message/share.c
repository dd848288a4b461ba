// SPDX-License-Identifier: Apache-2.0
#include "server/message/share.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/net/address.h"

enum { BUCKETS = 1024, QUARTER = 4, ADDRESS, TOKEN };

struct share_id {
	uint64_t kind, word[2];
};

// Exists only while it has parts, which bounds the number of holders.
struct share_holder {
	struct share_holder *next; // in the bucket
	struct share_id id;
	unsigned parts;
	uint64_t amount;
};

struct share_pool {
	struct share_options options;
	pthread_mutex_t lock;
	struct share_part *first;
	uint64_t amount;
	struct share_holder *bucket[BUCKETS];
};

struct share_pool *share_pool_new(const struct share_options *options)
{
	struct share_pool *p = xcalloc(1, sizeof(*p));
	p->options = *options;
	p->options.share = options->share ? options->share : (options->most + QUARTER - 1) / QUARTER;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void share_pool_free(struct share_pool *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p);
}

// --- holders: under the lock ---

static struct share_id id_of_address(const char *peer)
{
	struct share_id id = {.kind = ADDRESS};
	uint8_t client[ADDRESS_SIZE];
	address_client(peer, client);
	memcpy(id.word, client, sizeof(id.word));
	return id;
}

static struct share_id id_of_token(const char *token)
{
	struct str name = str_from(token);
	return (struct share_id){TOKEN, {hash_of(name, 0), hash_of(name, 1)}};
}

static struct share_holder **find_holder(struct share_pool *p, const struct share_id *id)
{
	struct share_holder **at =
		&p->bucket[hash_of((struct str){(const char *)id, sizeof(*id)}, 0) % BUCKETS];
	while (*at && memcmp(&(*at)->id, id, sizeof(*id)) != 0)
		at = &(*at)->next;
	return at;
}

static struct share_holder *find_or_add_holder(struct share_pool *p, struct share_id id)
{
	struct share_holder **at = find_holder(p, &id);
	if (!*at) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->id = id;
	}
	(*at)->parts++;
	return *at;
}

static void drop_holder(struct share_pool *p, struct share_holder *h)
{
	if (--h->parts)
		return;
	*find_holder(p, &h->id) = h->next;
	free(h);
}

// With more for the part.
static bool is_beyond_share(const struct share_pool *p, const struct share_holder *h, const struct share_part *part,
	uint64_t more)
{
	return h && h->amount + more > p->options.share && !(p->options.is_strict && h->amount == part->amount);
}

// --- parts: under the lock ---

static void leave_part(struct share_pool *p, struct share_part *part)
{
	if (part->next)
		part->next->prev = part->prev;
	if (part->prev)
		part->prev->next = part->next;
	else
		p->first = part->next;
	p->amount -= part->amount;
	for (int i = 0; i < SHARE_HOLDERS; i++) {
		struct share_holder *h = STEAL_PTR(part->holder[i]);
		if (!h)
			continue;
		h->amount -= part->amount;
		drop_holder(p, h);
	}
	part->amount = 0;
	part->is_in = false;
}

static bool have_same_holder(const struct share_part *a, const struct share_part *b)
{
	for (int i = 0; i < SHARE_HOLDERS; i++)
		if (a->holder[i] && a->holder[i] == b->holder[i])
			return true;
	return false;
}

// The part that is to be taken back for another one, of the largest holder; NULL: none. is_beyond: the other one's
// holder has its share already.
static struct share_part *choose_part(const struct share_pool *p, const struct share_part *other, bool is_beyond)
{
	struct share_part *found = NULL;
	uint64_t found_weight = 0;
	long found_since = 0;
	for (struct share_part *part = p->first; part; part = part->next) {
		long since = part->idle_since ? atomic_load_explicit(part->idle_since, memory_order_relaxed) : 0;
		// The larger amount of its two holders.
		uint64_t weight = 0;
		for (int i = 0; i < SHARE_HOLDERS; i++)
			if (part->holder[i] && part->holder[i]->amount > weight)
				weight = part->holder[i]->amount;
		bool fits = is_beyond ? p->options.renews && have_same_holder(part, other) : weight > p->options.share;
		if (part == other || !since || !fits ||
			(found && (weight < found_weight || (weight == found_weight && since > found_since))))
			continue;
		found = part;
		found_weight = weight;
		found_since = since;
	}
	return found;
}

static bool find_share_room(struct share_pool *p, const struct share_part *part, uint64_t more, bool is_beyond)
{
	while (p->amount && (p->amount > p->options.most || more > p->options.most - p->amount)) {
		struct share_part *old = p->options.end ? choose_part(p, part, is_beyond) : NULL;
		if (!old)
			return false;
		leave_part(p, old);
		old->is_ended = true;
		p->options.end(old->owner);
	}
	return true;
}

static bool has_holder_beyond(const struct share_pool *p, const struct share_part *part, uint64_t more)
{
	bool is_beyond = false;
	for (int i = 0; i < SHARE_HOLDERS; i++)
		is_beyond = is_beyond || is_beyond_share(p, part->holder[i], part, more);
	return is_beyond;
}

static bool add_to_part(struct share_pool *p, struct share_part *part, uint64_t more)
{
	bool is_beyond = has_holder_beyond(p, part, more);
	if ((is_beyond && p->options.is_strict) || !find_share_room(p, part, more, is_beyond))
		return false;
	for (int i = 0; i < SHARE_HOLDERS; i++)
		if (part->holder[i])
			part->holder[i]->amount += more;
	part->amount += more;
	p->amount += more;
	return true;
}

// --- calls ---

bool share_take(struct share_pool *p, struct share_part *part, const char *peer, const char *token, uint64_t more)
{
	pthread_mutex_lock(&p->lock);
	bool was_in = part->is_in, has_room = false;
	if (!part->is_ended) {
		if (!was_in) {
			bool has_address = peer && strcmp(peer, "unix") != 0;
			part->holder[0] = has_address ? find_or_add_holder(p, id_of_address(peer)) : NULL;
			part->holder[1] = token ? find_or_add_holder(p, id_of_token(token)) : NULL;
			part->is_in = true;
			part->prev = NULL;
			part->next = p->first;
			if (part->next)
				part->next->prev = part;
			p->first = part;
		}
		has_room = add_to_part(p, part, more);
		if (!was_in && !has_room)
			leave_part(p, part);
	}
	pthread_mutex_unlock(&p->lock);
	return has_room;
}

bool share_is_beyond(struct share_pool *p, const struct share_part *part, uint64_t more)
{
	pthread_mutex_lock(&p->lock);
	bool is_beyond = has_holder_beyond(p, part, more);
	pthread_mutex_unlock(&p->lock);
	return is_beyond;
}

bool share_is_used_up(struct share_pool *p, const char *peer)
{
	if (!peer || strcmp(peer, "unix") == 0)
		return false;
	struct share_id id = id_of_address(peer);
	pthread_mutex_lock(&p->lock);
	const struct share_holder *h = *find_holder(p, &id);
	bool is_used_up = h && h->amount >= p->options.share;
	pthread_mutex_unlock(&p->lock);
	return is_used_up;
}

void share_keep(struct share_pool *p, struct share_part *part)
{
	pthread_mutex_lock(&p->lock);
	part->idle_since = NULL;
	pthread_mutex_unlock(&p->lock);
}

void share_give(struct share_pool *p, struct share_part *part)
{
	pthread_mutex_lock(&p->lock);
	if (part->is_in)
		leave_part(p, part);
	pthread_mutex_unlock(&p->lock);
}

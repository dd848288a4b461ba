// SPDX-License-Identifier: Apache-2.0
#include "server/http/answers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/net/address.h"

enum { BUCKETS = 1024, QUARTER = 4, BUCKET_SHIFT = 4 };
enum answer_place { MEMORY, DISK, PLACES };

const char answers_unread[] = "answers to this client, or to all, wait to be read: read them, or try again";

// The clients of an address that read an answer.
struct answer_payer {
	struct answer_payer *next;
	uint8_t client[ADDRESS_SIZE];
	struct share_part part;
	unsigned readers;
};

// Bytes that at least one client reads.
struct answer {
	struct answer *next; // in the bucket
	const void *bytes;   // the blob, or the stream
	enum answer_place place;
	struct share_part part;
	struct answer_payer *payers;
};

struct answers {
	pthread_mutex_t lock;
	struct share_pool *all[PLACES], *addresses[PLACES];
	struct share_pool *makers; // the addresses for which pages are made
	struct answer *bucket[BUCKETS];
};

struct answers *answers_new(void)
{
	static const uint64_t most[PLACES] = {[MEMORY] = LIMIT_ANSWERS_SENT, [DISK] = LIMIT_ANSWERS_SPOOLED};
	struct answers *a = xcalloc(1, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
	for (int i = 0; i < PLACES; i++) {
		a->all[i] = share_pool_new(&(struct share_options){.most = most[i]});
		a->addresses[i] = share_pool_new(
			&(struct share_options){.most = UINT64_MAX, .share = most[i] / QUARTER, .is_strict = true});
	}
	a->makers = share_pool_new(
		&(struct share_options){.most = UINT64_MAX, .share = LIMIT_ANSWERS_SENT / 2, .is_strict = true});
	return a;
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	for (int i = 0; i < PLACES; i++) {
		share_pool_free(a->all[i]);
		share_pool_free(a->addresses[i]);
	}
	share_pool_free(a->makers);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

// --- under the lock ---

static struct answer **find_answer(struct answers *a, const void *bytes)
{
	struct answer **at = &a->bucket[((uintptr_t)bytes >> BUCKET_SHIFT) % BUCKETS];
	while (*at && (*at)->bytes != bytes)
		at = &(*at)->next;
	return at;
}

static struct answer *add_answer(struct answers *a, const void *bytes, enum answer_place place, size_t weight)
{
	struct answer *one = xcalloc(1, sizeof(*one));
	one->bytes = bytes;
	one->place = place;
	if (!share_take(a->all[place], &one->part, NULL, NULL, weight)) {
		free(one);
		return NULL;
	}
	struct answer **at = find_answer(a, bytes);
	one->next = *at;
	*at = one;
	return one;
}

static struct answer_payer *add_payer(struct answers *a, struct answer *one, const char *peer, size_t weight)
{
	struct answer_payer *p = xcalloc(1, sizeof(*p));
	address_client(peer, p->client);
	if (!share_take(a->addresses[one->place], &p->part, peer, NULL, weight)) {
		free(p);
		return NULL;
	}
	p->next = one->payers;
	one->payers = p;
	return p;
}

static void drop_answer_if_unread(struct answers *a, struct answer *one)
{
	if (one->payers)
		return;
	struct answer **at = find_answer(a, one->bytes);
	*at = one->next;
	share_give(a->all[one->place], &one->part);
	free(one);
}

// what: its bytes and place, not yet in the table.
static bool begin_reading(struct answers *a, struct answer_reader *r, const struct answer *what, size_t weight,
	const char *peer)
{
	uint8_t client[ADDRESS_SIZE];
	address_client(peer, client);
	struct answer *one = *find_answer(a, what->bytes);
	if (!one && !(one = add_answer(a, what->bytes, what->place, weight)))
		return false;
	struct answer_payer *payer = one->payers;
	while (payer && memcmp(payer->client, client, ADDRESS_SIZE) != 0)
		payer = payer->next;
	if (!payer && !(payer = add_payer(a, one, peer, weight))) {
		drop_answer_if_unread(a, one);
		return false;
	}
	payer->readers++;
	*r = (struct answer_reader){one, payer};
	return true;
}

// --- calls ---

bool answers_begin(struct answers *a, struct answer_reader *r, const struct reply *reply, const char *peer)
{
	size_t spooled = reply->body ? blob_spooled(reply->body) : 0;
	size_t weight = reply->stream ? ANSWERS_STREAM_BLOCK
			: spooled     ? spooled
			: reply->body ? blob_weight(reply->body)
				      : 0;
	const struct answer what = {.bytes = reply->stream ? (const void *)reply->stream : reply->body,
		.place = spooled ? DISK : MEMORY};
	if (weight < LIMIT_ANSWERS_SMALL)
		return true;
	pthread_mutex_lock(&a->lock);
	bool has_room = begin_reading(a, r, &what, weight, peer);
	pthread_mutex_unlock(&a->lock);
	return has_room;
}

void answers_end(struct answers *a, struct answer_reader *r)
{
	if (!r->answer)
		return;
	pthread_mutex_lock(&a->lock);
	if (--r->payer->readers == 0) {
		struct answer_payer **at = &r->answer->payers;
		while (*at != r->payer)
			at = &(*at)->next;
		*at = r->payer->next;
		share_give(a->addresses[r->answer->place], &r->payer->part);
		free(r->payer);
		drop_answer_if_unread(a, r->answer);
	}
	pthread_mutex_unlock(&a->lock);
	*r = (struct answer_reader){0};
}

bool answers_is_used_up(struct answers *a, const char *peer)
{
	return share_is_used_up(a->addresses[MEMORY], peer) || share_is_used_up(a->addresses[DISK], peer);
}

// --- pages that are made ---

static bool take_memory(struct buf_meter *meter, size_t more)
{
	struct answer_making *m = (struct answer_making *)(void *)((char *)meter - offsetof(struct answer_making, meter));
	struct answers *a = m->answers;
	return !a || (share_take(a->makers, &m->address, m->peer, NULL, more) &&
			     share_take(a->all[MEMORY], &m->all, NULL, NULL, more));
}

void answers_make_begin(struct answers *a, struct answer_making *m, const char *peer)
{
	*m = (struct answer_making){.meter.take = take_memory, .answers = a, .peer = peer};
}

void answers_make_end(struct answer_making *m)
{
	if (!m->answers)
		return;
	share_give(m->answers->makers, &m->address);
	share_give(m->answers->all[MEMORY], &m->all);
}

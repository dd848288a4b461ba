// SPDX-License-Identifier: Apache-2.0
#include "lib/format/digest-set.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

enum { FIRST_ROOM = 64 }; // a power of two

struct digest_slot {
	bool is_used;
	uint8_t sha256[SHA256_SIZE];
};

struct digest_set {
	struct digest_slot *slot;
	size_t count, room;
};

struct digest_set *digest_set_new(void)
{
	struct digest_set *s = xcalloc(1, sizeof(*s));
	s->room = FIRST_ROOM;
	s->slot = xcalloc(s->room, sizeof(*s->slot));
	return s;
}

void digest_set_free(struct digest_set *s)
{
	if (!s)
		return;
	free(s->slot);
	free(s);
}

// The slot of the digest, or the free one where it belongs. The digest is its own hash: nobody can choose many that
// share 64 bits.
static struct digest_slot *slot_of(const struct digest_set *s, const uint8_t *sha256)
{
	uint64_t hash;
	memcpy(&hash, sha256, sizeof(hash));
	for (size_t at = (size_t)hash & (s->room - 1);; at = (at + 1) & (s->room - 1))
		if (!s->slot[at].is_used || memcmp(s->slot[at].sha256, sha256, SHA256_SIZE) == 0)
			return &s->slot[at];
}

static void put_digest(struct digest_set *s, const uint8_t *sha256)
{
	struct digest_slot *slot = slot_of(s, sha256);
	slot->is_used = true;
	memcpy(slot->sha256, sha256, SHA256_SIZE);
	s->count++;
}

// At most half of the slots are used, so that a free one is near.
static void make_room(struct digest_set *s)
{
	struct digest_set larger = {.room = 2 * s->room};
	if (2 * s->count < s->room)
		return;
	larger.slot = xcalloc(larger.room, sizeof(*larger.slot));
	for (size_t i = 0; i < s->room; i++)
		if (s->slot[i].is_used)
			put_digest(&larger, s->slot[i].sha256);
	free(s->slot);
	*s = larger;
}

bool digest_set_add(struct digest_set *s, const uint8_t sha256[SHA256_SIZE])
{
	if (slot_of(s, sha256)->is_used)
		return false;
	make_room(s);
	put_digest(s, sha256);
	return true;
}

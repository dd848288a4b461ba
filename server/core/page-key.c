// SPDX-License-Identifier: Apache-2.0
#include "server/core/page-key.h"

#include <string.h>

#include "lib/base/hash.h"

// The room for len more bytes. NULL: there is none, and the key is none.
static char *take_room(struct page_key *key, size_t len)
{
	if (len > sizeof(key->bytes) - key->len)
		return NULL;
	key->len += len;
	return key->bytes + key->len - len;
}

static bool add_key_number(struct page_key *key, uint64_t n)
{
	char *at = take_room(key, sizeof(n));
	return at && memcpy(at, &n, sizeof(n));
}

static bool add_key_text(struct page_key *key, struct str s)
{
	char *at = add_key_number(key, s.len) ? take_room(key, s.len) : NULL;
	if (at && s.len)
		memcpy(at, s.ptr, s.len);
	return at;
}

// A bit for each platform of the store; nothing for none.
static bool add_platforms(struct page_key *key, const struct page_readers *r, const struct platform *const *list,
	size_t count)
{
	size_t size = count ? (r->site->store.platform_count + 7) / 8 : 0;
	char *at = add_key_number(key, size) ? take_room(key, size) : NULL;
	if (!at)
		return false;
	memset(at, 0, size);
	for (size_t i = 0; i < count; i++) {
		size_t bit = (size_t)(list[i] - r->site->store.platform);
		at[bit / 8] = (char)((unsigned char)at[bit / 8] | 1u << bit % 8);
	}
	return true;
}

// The site lives as long as the server: its address tells it from the one before a reload, whose platforms may have
// other rights.
static bool add_readers(struct page_key *key, const struct page_readers *r)
{
	return add_key_number(key, (uintptr_t)r->site) && add_platforms(key, r, r->platform, r->platforms) &&
	       add_platforms(key, r, r->named, r->nameds);
}

void page_key_make(struct page_key *key, enum page_kind kind, const struct page_readers *readers,
	const struct page_value *value, size_t values)
{
	static const struct page_readers everybody;
	key->kind = kind;
	key->len = 0;
	bool fits = add_readers(key, readers ? readers : &everybody) && add_key_number(key, kind);
	for (size_t i = 0; i < values && fits; i++)
		fits = value[i].is_text ? add_key_text(key, value[i].text) : add_key_number(key, value[i].number);
	key->len = fits ? key->len : 0;
	key->hash = hash_of(page_key_view(key), 0);
}

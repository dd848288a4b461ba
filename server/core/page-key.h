// SPDX-License-Identifier: Apache-2.0
// The keys of the page cache. Only page_key_make() makes them: of the platforms that the asker may read, the kind of
// the answer, and typed values, each text with its length. So two requests have one key only if all of these are equal,
// and no text of a client can stand for another value. Pure; any thread.
#pragma once

#include "lib/base/limits.h"
#include "lib/view/view.h"

// Each kind has values of its own, always the same number of the same types.
enum page_kind {
	PAGE_SIMPLE,         // a page of the simple API
	PAGE_SIMPLE_CHANGES, // no page: counts the drops of a project's pages
	PAGE_FILE,
	PAGE_NOT_FOUND,
	PAGE_ASSET,
	PAGE_COSTLY, // the kinds from here on are costly pages, which have a share of the cache and locks of their own
	PAGE_HOME = PAGE_COSTLY,
	PAGE_PROJECT,
	PAGE_CHANNEL,
	PAGE_COMPARE,
	PAGE_COVERAGE,
	PAGE_MISSING,
	PAGE_SECURITY,
	PAGE_USAGE,
};

enum { PAGE_KEY_SIZE = LIMIT_PATH + (1 << 10) };

struct page_key {
	uint64_t hash; // by hash_of(): a client cannot find keys that collide
	enum page_kind kind;
	size_t len; // 0: longer than the room, and the answer is not kept
	char bytes[PAGE_KEY_SIZE];
};

// The platforms whose files the answer may show, in any order. Borrowed. Without platforms: what the values say is for
// everybody, or for all who pass the check of the route's right.
struct page_readers {
	const struct site *site;
	const struct platform *const *platform;
	size_t platforms;
	const struct platform *const *named; // on which it may show the names of people and tokens
	size_t nameds;
};

struct page_value {
	struct str text;
	uint64_t number;
	bool is_text;
};
#define PAGE_NUMBER(n) {.number = (uint64_t)(n)}
#define PAGE_TEXT(s) {.text = (s), .is_text = true}
// The values of page_key_make().
#define PAGE_VALUES(...)                                                                                               \
	(const struct page_value[]){__VA_ARGS__},                                                                      \
		sizeof((const struct page_value[]){__VA_ARGS__}) / sizeof(struct page_value)

// readers NULL: as without site and platforms.
void page_key_make(struct page_key *key, enum page_kind kind, const struct page_readers *readers,
	const struct page_value *value, size_t values);
static inline bool page_key_is_costly(const struct page_key *key)
{
	return key->kind >= PAGE_COSTLY;
}
static inline struct str page_key_view(const struct page_key *key)
{
	return (struct str){key->bytes, key->len};
}

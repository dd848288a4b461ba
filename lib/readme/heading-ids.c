// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/heading-ids.h"

#include "lib/base/hash.h"
#include "lib/base/limits.h"

void heading_ids_release(struct heading_ids *ids)
{
	mem_free(&ids->item);
	arena_release(&ids->text);
	*ids = (struct heading_ids){0};
}

// The length of the character at the start of s, which is UTF-8, if an id leaves it out: signs of Latin-1, general
// punctuation, arrows and other signs, and pictures.
static size_t sign_length(struct str s)
{
	const unsigned char *at = (const unsigned char *)s.ptr;
	if (s.len >= 2 && at[0] == 0xc2 && at[1] != 0xaa && at[1] != 0xb5 && at[1] != 0xba)
		return 2;
	if (s.len >= 3 && ((at[0] == 0xe2 && at[1] <= 0xaf) || (at[0] == 0xe3 && at[1] == 0x80)))
		return 3;
	return s.len >= 4 && at[0] == 0xf0 && at[1] == 0x9f ? 4 : 0;
}

static void add_slug(struct buf *out, struct str words)
{
	for (size_t i = 0; i < words.len; i++) {
		char c = words.ptr[i];
		size_t sign = sign_length(str_slice(words, i, words.len));
		if (sign)
			i += sign - 1;
		else if (ascii_is_alnum(c) || c == '-' || c == '_' || c & 0x80)
			buf_putc(out, ascii_lower(c));
		else if (c == ' ' || c == '\t' || c == '\n')
			buf_putc(out, '-');
	}
}

static struct heading_id *find_id(struct heading_ids *ids, struct str id)
{
	uint64_t hash = hash_of(id, 0);
	for (size_t i = 0; i < ids->count; i++)
		if (ids->item[i].hash == hash && str_eq(ids->item[i].id, id))
			return &ids->item[i];
	return NULL;
}

static void keep_id(struct heading_ids *ids, struct str id)
{
	GROW(ids->item, ids->count, ids->room);
	ids->item[ids->count++] = (struct heading_id){
		.hash = hash_of(id, 0),
		.id = {arena_copy(&ids->text, id), id.len},
	};
}

void heading_ids_add(struct heading_ids *ids, struct str words, struct buf *out)
{
	CLEANUP(buf_release) struct buf slug;
	struct heading_id *first;
	size_t len;
	buf_init(&slug, LIMIT_README);
	add_slug(&slug, str_trim(words));
	if (slug.failed || !slug.len || ids->count == LIMIT_README_IDS)
		return;
	first = find_id(ids, buf_view(&slug));
	len = slug.len;
	for (unsigned n = first ? ++first->repeated : 0; n && !slug.failed; n = ++first->repeated) {
		slug.len = len;
		buf_printf(&slug, "-%u", n);
		if (!find_id(ids, buf_view(&slug)))
			break;
	}
	keep_id(ids, buf_view(&slug));
	buf_str(out, buf_view(&slug));
}

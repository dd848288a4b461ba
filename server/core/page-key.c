// SPDX-License-Identifier: Apache-2.0
#include "server/core/page-key.h"

#include <string.h>

enum { DIGIT_BITS = 4 };

// Digits are letters: none is a separator.
static char *put_key_number(char *at, uint64_t n)
{
	do {
		*at++ = (char)('A' + n % (1 << DIGIT_BITS));
		n >>= DIGIT_BITS;
	} while (n);
	return at;
}

// No name of a view has "@" or ":". That of a part has one "/" more than that of a view, and no project's name has one.
struct str page_key_make(const struct page_key *k, char room[PAGE_KEY_SIZE])
{
	char *at = room;
	*at++ = (char)('0' + k->variant);
	*at++ = (char)('0' + k->coding);
	if (k->view->name)
		at = stpcpy(at, k->view->name);
	if (k->view->membership) {
		*at++ = '@';
		at = put_key_number(at, (uint64_t)k->generation);
	}
	if (k->is_past) {
		*at++ = ':';
		at = put_key_number(at, k->changes);
	}
	*at++ = '/';
	at = stpcpy(at, k->project);
	return (struct str){room, (size_t)(at - room)};
}

// No page has this key: its first byte is none of a variant.
static struct str changes_key(const struct view *view, const char *project, char room[PAGE_KEY_SIZE])
{
	struct str key = page_key_make(&(struct page_key){.view = view, .project = project}, room);
	room[0] = 'c';
	return key;
}

uint64_t page_key_changes(struct server_context *s, const struct view *view, const char *project, uint32_t cleared)
{
	char room[PAGE_KEY_SIZE];
	return pagecache_epoch(s->pagecache, changes_key(view, project, room), cleared);
}

static void drop_pages(struct server_context *s, const struct site *site, const struct view *view, const char *project)
{
	char room[PAGE_KEY_SIZE];
	struct page_key k = {.view = view, .generation = site_generation(site, view), .project = project};
	if (view->membership)
		pagecache_drop(s->pagecache, changes_key(view, project, room));
	for (int i = 0; i < VARIANT_COUNT * PAGE_CODING_COUNT; i++) {
		k.variant = (enum variant)(i / PAGE_CODING_COUNT);
		k.coding = (enum page_coding)(i % PAGE_CODING_COUNT);
		pagecache_drop(s->pagecache, page_key_make(&k, room));
	}
}

void page_key_drop_project(struct server_context *s, const char *project)
{
	const struct site *site = server_context_site(s);
	for (size_t i = 0; i < site->view_count; i++)
		drop_pages(s, site, &site->view[i], project);
	for (size_t i = 0; i < site->part_count; i++)
		drop_pages(s, site, &site->part[i], project);
}

void page_key_drop_lists(struct server_context *s)
{
	page_key_drop_project(s, "");
}

void page_key_drop_member_lists(struct server_context *s)
{
	const struct site *site = server_context_site(s);
	for (size_t i = 0; i < site->view_count; i++)
		if (site->view[i].membership)
			drop_pages(s, site, &site->view[i], "");
	for (size_t i = 0; i < site->part_count; i++)
		if (site->part[i].membership)
			drop_pages(s, site, &site->part[i], "");
}

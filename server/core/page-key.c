// SPDX-License-Identifier: Apache-2.0
#include "server/core/page-key.h"

#include <string.h>

// The key of the list ends where the project's name would be: no name is empty.
struct str page_key_make(const struct view *view, const char *project, enum variant variant, enum page_coding coding,
	char room[PAGE_KEY_SIZE])
{
	char *at = room;
	*at++ = (char)('0' + variant);
	*at++ = (char)('0' + coding);
	if (view->name)
		at = stpcpy(at, view->name);
	*at++ = '/';
	at = stpcpy(at, project);
	return (struct str){room, (size_t)(at - room)};
}

void page_key_drop_project(struct server_context *s, const char *project)
{
	const struct site *site = server_context_site(s);
	char room[PAGE_KEY_SIZE];
	for (size_t v = 0; v < site->view_count; v++)
		for (int i = 0; i < VARIANT_COUNT * PAGE_CODING_COUNT; i++)
			pagecache_drop(s->pagecache,
				page_key_make(&site->view[v], project, (enum variant)(i / PAGE_CODING_COUNT),
					(enum page_coding)(i % PAGE_CODING_COUNT), room));
}

void page_key_drop_lists(struct server_context *s)
{
	page_key_drop_project(s, "");
}

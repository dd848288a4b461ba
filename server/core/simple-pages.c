// SPDX-License-Identifier: Apache-2.0
#include "server/core/simple-pages.h"

static struct str name_of_view(const struct view *view)
{
	return view->name ? str_from(view->name) : STR("");
}

void simple_pages_key(const struct simple_page *p, struct page_key *key)
{
	const struct view *view = p->view;
	const struct page_readers readers = {
		.site = p->site, .platform = view->platform, .platforms = view->platform_count};
	page_key_make(key, PAGE_SIMPLE, &readers,
		PAGE_VALUES(PAGE_NUMBER(p->variant), PAGE_NUMBER(p->coding), PAGE_TEXT(name_of_view(view)),
			PAGE_NUMBER(view->membership ? p->generation : 0), PAGE_NUMBER(p->is_past),
			PAGE_NUMBER(p->is_past ? p->changes : 0), PAGE_NUMBER(p->is_own),
			PAGE_TEXT(str_from(p->project))));
}

static void make_changes_key(const struct view *view, const char *project, struct page_key *key)
{
	page_key_make(key, PAGE_SIMPLE_CHANGES, NULL,
		PAGE_VALUES(PAGE_TEXT(name_of_view(view)), PAGE_TEXT(str_from(project))));
}

uint64_t simple_pages_changes(struct server_context *s, const struct view *view, const char *project, uint32_t cleared)
{
	struct page_key key;
	make_changes_key(view, project, &key);
	return pagecache_epoch(s->pagecache, &key, cleared);
}

static void drop_pages(struct server_context *s, const struct site *site, const struct view *view, const char *project)
{
	struct page_key key;
	struct simple_page p = {
		.site = site, .view = view, .generation = site_generation(site, view), .project = project};
	if (view->membership) {
		make_changes_key(view, project, &key);
		pagecache_drop(s->pagecache, &key);
	}
	for (int i = 0; i < VARIANT_COUNT * PAGE_CODING_COUNT; i++) {
		p.variant = (enum variant)(i / PAGE_CODING_COUNT);
		p.coding = (enum page_coding)(i % PAGE_CODING_COUNT);
		for (int own = 0; own <= (view->upstreams.count != 0); own++) {
			p.is_own = own;
			simple_pages_key(&p, &key);
			pagecache_drop(s->pagecache, &key);
		}
	}
}

void simple_pages_drop_project(struct server_context *s, const char *project)
{
	const struct site *site = server_context_site(s);
	for (size_t i = 0; i < site->view_count; i++)
		drop_pages(s, site, &site->view[i], project);
	for (size_t i = 0; i < site->part_count; i++)
		drop_pages(s, site, &site->part[i], project);
}

void simple_pages_drop_lists(struct server_context *s)
{
	simple_pages_drop_project(s, "");
}

void simple_pages_drop_member_lists(struct server_context *s)
{
	const struct site *site = server_context_site(s);
	for (size_t i = 0; i < site->view_count; i++)
		if (site->view[i].membership)
			drop_pages(s, site, &site->view[i], "");
	for (size_t i = 0; i < site->part_count; i++)
		if (site->part[i].membership)
			drop_pages(s, site, &site->part[i], "");
}

// SPDX-License-Identifier: Apache-2.0
// The simple API's pages in the page cache: one for each view, project, variant and coding, and for each generation of
// the view's membership. Any thread.
#pragma once

#include "server/core/server-context.h"
#include "server/message/negotiate.h"

// What a page shows. Borrowed.
struct simple_page {
	const struct site *site;
	const struct view *view;
	int64_t generation;  // site_generation(): a page is made of exactly one
	bool is_past;        // the generation is not the view's newest one
	uint64_t changes;    // simple_pages_changes(), where is_past
	const char *project; // "": the list of projects
	bool is_own;         // without upstream, of a view that merges it
	enum variant variant;
	enum page_coding coding;
};
void simple_pages_key(const struct simple_page *p, struct page_key *key);
// A number that differs after each drop of the project's pages: pages of past generations have it in their keys,
// because their keys cannot be listed. cleared: as for pagecache_epoch().
uint64_t simple_pages_changes(struct server_context *s, const struct view *view, const char *project, uint32_t cleared);
// Drops the pages of a project, or the lists of projects, in all views and their parts, variants and codings.
void simple_pages_drop_project(struct server_context *s, const char *project);
void simple_pages_drop_lists(struct server_context *s);
// The same for the lists of views with a membership: they depend on single files of a project.
void simple_pages_drop_member_lists(struct server_context *s);

// SPDX-License-Identifier: Apache-2.0
// The keys of the simple API's pages in the page cache: one for each view, project, variant and coding, and for each
// generation of the view's membership. Any thread.
#pragma once

#include "lib/base/limits.h"
#include "server/core/server-context.h"
#include "server/message/negotiate.h"

enum { PAGE_KEY_SIZE = 3 * LIMIT_FILE_NAME + 64 };

// What a page shows. Borrowed.
struct page_key {
	const struct view *view;
	int64_t generation;  // site_generation(): a page is made of exactly one
	bool is_past;        // the generation is not the view's newest one
	uint64_t changes;    // page_key_changes(), where is_past
	const char *project; // "": the list of projects
	enum variant variant;
	enum page_coding coding;
};
// The key. Its bytes are in room, which must outlive it.
struct str page_key_make(const struct page_key *k, char room[PAGE_KEY_SIZE]);
// A number that differs after each drop of the project's pages: pages of past generations have it in their keys, because
// their keys cannot be listed. cleared: as for pagecache_epoch().
uint64_t page_key_changes(struct server_context *s, const struct view *view, const char *project, uint32_t cleared);
// Drops the pages of a project, or the lists of projects, in all views and their parts, variants and codings.
void page_key_drop_project(struct server_context *s, const char *project);
void page_key_drop_lists(struct server_context *s);
// The same for the lists of views with a membership: they depend on single files of a project.
void page_key_drop_member_lists(struct server_context *s);

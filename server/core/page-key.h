// SPDX-License-Identifier: Apache-2.0
// The keys of the simple API's pages in the page cache: one for each view, project, variant and coding. Any thread.
#pragma once

#include "lib/base/limits.h"
#include "server/core/server-context.h"
#include "server/message/negotiate.h"

enum { PAGE_KEY_SIZE = 2 * LIMIT_FILE_NAME + 16 };

// The key of a project's page; project "": the list of projects. The bytes are in room, which must outlive the key.
struct str page_key_make(const struct view *view, const char *project, enum variant variant, enum page_coding coding,
	char room[PAGE_KEY_SIZE]);
// Drops the pages of a project, or the lists of projects, in all views, variants and codings.
void page_key_drop_project(struct server_context *s, const char *project);
void page_key_drop_lists(struct server_context *s);

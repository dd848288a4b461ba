// SPDX-License-Identifier: Apache-2.0
// The names of all projects of upstream, hundreds of thousands, for the list of a view that merges.
//
// They are kept in a file, sorted, a line each. An old list is used while a new one is fetched. The response is in
// memory while a worker thread parses it: at most LIMIT_PROJECT_LIST bytes, and the same again for the names. Any
// thread; a waiting request holds no thread.
#pragma once

#include <stdbool.h>

#include "lib/base/blob.h"
#include "lib/net/fetch-pool.h"
#include "server/message/stream.h"

struct project_list;

struct project_list_options {
	const char *folder; // of the file; it must exist
	const char *url;    // of the simple index
	struct fetch_pool *pool;
	unsigned max_age; // seconds
	bool is_offline;
	void (*changed)(void *ctx); // a new list was fetched; called by the list's worker thread
	void *ctx;
};

// Loads the list that an earlier process left. The pool is borrowed until project_list_free(), folder and url are
// copied. Never NULL.
struct project_list *project_list_new(const struct project_list_options *options);
void project_list_configure(struct project_list *r, unsigned max_age, bool is_offline);
// Fetches no list any more, and resumes the waiting requests, now and from now on. NULL is fine.
void project_list_cancel(struct project_list *r);
// After the pool was freed. NULL is fine.
void project_list_free(struct project_list *r);

// Whether the list need not be fetched now. Does not block: for the event loop.
bool project_list_is_fresh(struct project_list *r);
// False: there is no list yet, and the continuation is kept until there is one. True: *names is a reference for the
// caller, or NULL if there is no list and upstream cannot be asked.
bool project_list_get(struct project_list *r, struct continuation *continuation, struct blob **names);

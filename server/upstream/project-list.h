// SPDX-License-Identifier: Apache-2.0
// The names of all projects of upstream, for the list of a view that merges: hundreds of thousands. They are kept in a
// file, sorted, a line each. An old list is used while a new one is fetched. The answer is in memory while a worker thread
// parses it: at most LIMIT_PROJECT_LIST bytes, and the same again for the names. Any thread; a waiting request holds no
// thread.
#pragma once

#include <stdbool.h>

#include "lib/base/blob.h"
#include "lib/net/fetch-pool.h"
#include "server/message/stream.h"

struct project_list;

struct project_list_options {
	const char *folder; // where the file is, which must be there
	const char *url;    // of the simple index
	struct fetch_pool *pool;
	unsigned max_age; // seconds
	bool is_offline;
	void (*changed)(void *ctx); // there is another list now; from a thread of the roster's
	void *ctx;
};

// The pool is borrowed. A list that an earlier process left is used.
struct project_list *project_list_new(const struct project_list_options *options);
void project_list_configure(struct project_list *r, unsigned max_age, bool is_offline);
void project_list_cancel(struct project_list *r); // who waits is woken, now and from now on; NULL is fine
void project_list_free(struct project_list *r);   // after the pool was freed; NULL is fine

// Whether the list need not be asked for. On the event loop.
bool project_list_is_fresh(struct project_list *r);
// False: there is none yet, and again was taken. Else *names is a reference of the caller's; NULL: there is none, and
// upstream cannot be asked.
bool project_list_get(struct project_list *r, struct continuation *continuation, struct blob **names);

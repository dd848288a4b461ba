// SPDX-License-Identifier: Apache-2.0
// Whether builds may use an index: one that holds the platform which is fed would hand builds the wheels that they are
// to replace, and a bad one would spread (R33). A wheelcache server tells which platforms a view holds, at
// /-/view/NAME.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"

// The simple index of builds: as configured, else the first upstream. The caller frees it.
char *index_guard_index(const struct config *c);

struct index_guard {
	const struct config *config;
	const char *index, *platform;
	const char *from, *to; // base URLs of servers that are fed or asked, with "/" at the end; NULL: none
	const struct fetch_options *fetch;
};
// 0 if the index may be used; *note (NULL: nothing to say) is then a sentence for the operator, which the caller frees.
// ERR_USAGE: it holds the platform, or its server cannot tell. [build] index-holds-platform = yes permits both. An
// index of another host is permitted, and the note says that nobody knows what it holds.
int index_guard_check(const struct index_guard *g, char **note, struct err *e) MUST_CHECK;

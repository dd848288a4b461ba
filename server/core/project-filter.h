// SPDX-License-Identifier: Apache-2.0
// A negative filter: the hashes of the projects of platforms. "Not in the filter" is certain and needs no catalog. Two
// names may share a hash, so "in the filter" is not certain, and removing a name may remove another one. One writer at
// a time; any number of threads read meanwhile, without a lock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

struct project_filter;

struct project_filter *project_filter_new(void);
void project_filter_free(struct project_filter *s); // no thread may read any more; NULL is fine
bool project_filter_may_have(const struct project_filter *s, int64_t platform, struct str project);
void project_filter_add(struct project_filter *s, int64_t platform, struct str project);
void project_filter_remove(struct project_filter *s, int64_t platform, struct str project);

// SPDX-License-Identifier: Apache-2.0
// Projects of platforms, as a set of hashes: says "not there" without asking the catalog. A hash may be shared, so
// "there" is only a maybe, and whoever removes a name may remove one that shares its hash. One writer at a time; any
// number of readers meanwhile, without a lock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

struct project_filter;

struct project_filter *project_filter_new(void);
void project_filter_free(struct project_filter *s); // no reader may be left; NULL is fine
bool project_filter_may_have(const struct project_filter *s, int64_t platform, struct str project);
void project_filter_add(struct project_filter *s, int64_t platform, struct str project);
void project_filter_remove(struct project_filter *s, int64_t platform, struct str project);

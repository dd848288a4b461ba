// SPDX-License-Identifier: Apache-2.0
// Projects of platforms, as a set of hashes: says "not there" without asking the catalog. A hash may be shared, so
// "there" is only a maybe, and whoever removes a name may remove one that shares its hash. One writer at a time; any
// number of readers meanwhile, without a lock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

struct nameset;

struct nameset *nameset_new(void);
void nameset_free(struct nameset *s); // no reader may be left; NULL is fine
bool nameset_may_have(const struct nameset *s, int64_t platform, struct str project);
void nameset_add(struct nameset *s, int64_t platform, struct str project);
void nameset_remove(struct nameset *s, int64_t platform, struct str project);

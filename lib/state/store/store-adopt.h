// SPDX-License-Identifier: Apache-2.0
// Takes the catalog of another store over, because the store has moved: what is read from wheels is made again. One thread.
#pragma once

#include "lib/state/store/store.h"

// Before store_register(). Does nothing if the catalog is this store's, or nobody's; else logs it. ERR_USAGE: no folder of
// a platform has anything in it, so that a volume that is not mounted does not empty the catalog.
int store_adopt(const struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// Only what it refuses. *before: the other store of which the catalog is, which the caller frees; NULL: it is of none.
int store_adopt_check(const struct store *s, struct catalog *c, char **before, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Catalog connections, lent to one thread at a time. Thread-safe.
#pragma once

#include "lib/base/err.h"

struct catalog;
struct readers;

// A connection that is lent. The number tells which file it was opened from.
struct reader {
	struct catalog *catalog;
	unsigned generation;
};

struct readers *readers_new(const char *catalog_path);
void readers_free(struct readers *r); // all must have been given back; NULL is fine
// Opens one more where all are lent.
int readers_take(struct readers *r, struct reader *out, struct err *e) MUST_CHECK;
// One for which the system has failed is closed.
void readers_give(struct readers *r, struct reader *reader);
// Opens anew what is taken from now on: the catalog may be another file. What is lent is closed when it comes back.
void readers_renew(struct readers *r);

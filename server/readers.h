// SPDX-License-Identifier: Apache-2.0
// Catalog connections, lent to one thread at a time. Thread-safe.
#pragma once

#include "lib/base/err.h"

struct catalog;
struct readers;

struct readers *readers_new(const char *catalog_path);
void readers_free(struct readers *r); // all must have been given back; NULL is fine
// Opens one more where all are lent.
struct catalog *readers_take(struct readers *r, struct err *e) MUST_CHECK;
void readers_give(struct readers *r, struct catalog *c);

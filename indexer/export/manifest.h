// SPDX-License-Identifier: Apache-2.0
// A list of paths: what is ours in the folder of a static export. A path that ends in "/" is a
// page. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// All zero is an empty one.
struct inventory {
	char **path;
	size_t count, room;
};

void inventory_release(struct inventory *i);
void inventory_add(struct inventory *i, char *path); // takes it over
// To be called after the last inventory_add, before what follows.
void inventory_sort(struct inventory *i);
bool inventory_has(const struct inventory *i, const char *path);
// As the text of a file that says what it is, each path once: what any of the two lists has.
void inventory_print(const struct inventory *a, const struct inventory *b, struct buf *out);
// Reads such a text into an empty list. ERR_USAGE where it is none.
int inventory_parse(struct str text, struct inventory *out, struct err *e) MUST_CHECK;

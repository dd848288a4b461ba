// SPDX-License-Identifier: Apache-2.0
// A list of paths: what is ours in the folder of a static export. A path that ends in "/" is a
// page. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// All zero is an empty one.
struct manifest {
	char **path;
	size_t count, room;
};

void manifest_release(struct manifest *i);
void manifest_add(struct manifest *i, char *path); // takes it over
// To be called after the last manifest_add, before what follows.
void manifest_sort(struct manifest *i);
bool manifest_has(const struct manifest *i, const char *path);
// As the text of a file that says what it is, each path once: what any of the two lists has.
void manifest_print(const struct manifest *a, const struct manifest *b, struct buf *out);
// Reads such a text into an empty list. ERR_USAGE where it is none.
int manifest_parse(struct str text, struct manifest *out, struct err *e) MUST_CHECK;

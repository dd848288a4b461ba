// SPDX-License-Identifier: Apache-2.0
// A sorted list of the paths that wheelcache made in the folder of a static export. A path that ends in "/" is a page.
// One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// All zero is an empty manifest.
struct manifest {
	char **path;
	size_t count, room;
};

void manifest_release(struct manifest *m);
void manifest_add(struct manifest *m, char *path); // takes ownership of path
// To be called after the last manifest_add, and before the functions below.
void manifest_sort(struct manifest *m);
bool manifest_has(const struct manifest *m, const char *path);
// Appends the text of a manifest file: a heading, then each path of the two lists once.
void manifest_print(const struct manifest *a, const struct manifest *b, struct buf *out);
// Reads such a text into an empty manifest. ERR_USAGE where its heading is another.
int manifest_parse(struct str text, struct manifest *out, struct err *e) MUST_CHECK;

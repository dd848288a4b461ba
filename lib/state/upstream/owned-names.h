// SPDX-License-Identifier: Apache-2.0
// Projects that are ours: upstream did not know them when they were here. If somebody registers such a name upstream
// later, his files are not to slip in under it. They stand in a file beside the catalog, a line each, "<project>
// <when>", which outlives the catalog and only grows; the operator may take a line out. Thread-safe; several processes
// may share it.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct owned_names;

// Beside the catalog: to be freed by the caller.
char *owned_names_path(const char *catalog_path);
// A file that is not there is empty; it is made with its first line.
int owned_names_open(const char *path, struct owned_names **out, struct err *e) MUST_CHECK;
void owned_names_close(struct owned_names *o);    // NULL is fine
void owned_names_cleanup(struct owned_names **o); // for CLEANUP
// Called for each project that somebody else put in or took out, by whichever thread notices; it must not use o.
typedef void owned_names_fn(void *ctx, const char *project);
void owned_names_watch(struct owned_names *o, owned_names_fn *moved, void *ctx); // before anybody else uses it
// Looks at the file, and reads it again where somebody has changed it; where that fails, what it read last counts. That
// it has become shorter counts when it has stayed so for two seconds: an editor may be writing it.
void owned_names_look(struct owned_names *o);
// The same, and whether a project (normalised) is in it.
bool owned_names_has(struct owned_names *o, const char *project);
// On the disk when it returns. One that is there already is fine.
int owned_names_add(struct owned_names *o, const char *project, struct err *e) MUST_CHECK;

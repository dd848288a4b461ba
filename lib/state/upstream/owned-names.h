// SPDX-License-Identifier: Apache-2.0
// Projects that are ours: upstream did not know them when they were here. If somebody registers such a name upstream later,
// his files are not to slip in under it. They stand in a file beside the catalog, a line each, "<project> <when>", which
// outlives the catalog and only grows; the operator may take a line out. Thread-safe; several processes may share it.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

struct ours;

// Beside the catalog: to be freed by the caller.
char *ours_path(const char *catalog_path);
// A file that is not there is empty; it is made with its first line.
int ours_open(const char *path, struct ours **out, struct err *e) MUST_CHECK;
void ours_close(struct ours *o);    // NULL is fine
void ours_cleanup(struct ours **o); // for CLEANUP
// Called for each project that somebody else put in or took out, by whichever thread notices; it must not use o.
typedef void ours_fn(void *ctx, const char *project);
void ours_watch(struct ours *o, ours_fn *moved, void *ctx); // before anybody else uses it
// Looks at the file, and reads it again where somebody has changed it; where that fails, what it read last counts. That
// it has become shorter counts when it has stayed so for two seconds: an editor may be writing it.
void ours_look(struct ours *o);
// The same, and whether a project (normalised) is in it.
bool ours_has(struct ours *o, const char *project);
// On the disk when it returns. One that is there already is fine.
int ours_add(struct ours *o, const char *project, struct err *e) MUST_CHECK;

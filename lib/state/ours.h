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
// project is normalised. Looks at the file, and reads it again where somebody has changed it; where that fails, what it
// read last counts.
bool ours_has(struct ours *o, const char *project);
// On the disk when it returns. One that is there already is fine.
int ours_add(struct ours *o, const char *project, struct err *e) MUST_CHECK;

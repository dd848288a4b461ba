// SPDX-License-Identifier: Apache-2.0
// Names of temporary files in the folders of a store, and which of these files are abandoned. A temporary file is in
// the folder of its final name, because AFS neither links nor renames across volumes. The names begin with a dot; scans
// ignore them. Any thread.
#pragma once

#include <stdbool.h>

enum { TEMPNAME_NAME = 80 };

// Writes a new name, unique to this process.
void tempname_name(char out[TEMPNAME_NAME]);
// Whether it is the name of a temporary file.
bool tempname_is(const char *name);
// Declares a name of this process abandoned, although the process lives: the next sweep removes the file.
void tempname_abandon(const char *name);
// Removes the file if its owner is dead: a process of this machine that has ended, or one of another machine that has
// not modified the file for a day. True if the file is gone.
bool tempname_sweep(int dirfd, const char *name);

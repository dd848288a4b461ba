// SPDX-License-Identifier: Apache-2.0
// Temporary files in the folders of a store: how they are called, and which of them nobody will
// finish. They lie where the file will be, since AFS neither links nor renames across volumes. Their
// names begin with a dot, so that no scan takes them for anything else. Thread-safe.
#pragma once

#include <stdbool.h>

enum { TEMPNAME_NAME = 80 };

// A new name, for this process alone.
void tempname_name(char out[TEMPNAME_NAME]);
// Whether the name is one of those.
bool tempname_is(const char *name);
// The name of this process will never be finished, though the process lives: the next sweep takes it away.
void tempname_abandon(const char *name);
// Takes it away where its maker is dead: a process of this machine that has ended, or one of
// another machine that has not touched it for a day. True where it is gone.
bool tempname_sweep(int dirfd, const char *name);

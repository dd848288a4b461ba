// SPDX-License-Identifier: Apache-2.0
// Records: small files, each created or replaced whole, or not at all. Those of a folder of their own are many, and
// each has one writer; those of state-files.h are one file each, which several processes change. Other accounts may put
// things into these folders, so links are not followed (safefile.h has the exceptions), and pipes are not waited for.
// Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/place/place.h"

// Opens a folder below `folder`; `below` has at most two components. make: it is created if it is missing, durably,
// with `folder` itself. ERR_NOT_FOUND, ERR_IO, ERR_DENIED (a link). The caller closes it.
struct place_folder *record_folder(const char *folder, const char *below, bool make, struct err *e) MUST_CHECK;
// The same for state, which no other account may read.
struct place_folder *record_secret_folder(const char *folder, const char *below, bool make, struct err *e) MUST_CHECK;
// Appends the bytes of a file. The message of an error does not name it. ERR_NOT_FOUND; ERR_INVALID: it is no regular
// file; ERR_LIMIT: it has more than `most` bytes; ERR_IO.
int record_read(struct place_folder *folder, const char *name, size_t most, struct buf *out, struct err *e) MUST_CHECK;
// Creates a file, durably; all accounts may read it, less the umask, unless the folder is secret. ERR_CONFLICT: the
// name is taken by another writer's file, also if that one has the same bytes. On another error the file is there as a
// whole, or not at all.
int record_create(struct place_folder *folder, const char *name, struct str text, struct err *e) MUST_CHECK;
// The same in place of the file that has the name. It has one writer.
int record_replace(struct place_folder *folder, const char *name, struct str text, struct err *e) MUST_CHECK;
// Changes the file of this path, with whoever else changes it: reads it (nothing if it is missing), has fn write what
// it becomes, and puts that in its place, durably, if nobody has changed it since; otherwise it begins again. fn
// returns 0 to leave it as it is. Folders are made. is_alone: no other account may read it. Errors are those of
// safefile.h and of fn, ERR_LIMIT: it has, or would have, more than `most` bytes, ERR_BUSY: others change it all the
// time, and ERR_FULL.
typedef int record_change_fn(void *ctx, struct str before, struct place_write *now, struct err *e);
int record_change(const char *path, bool is_alone, size_t most, record_change_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// What tells a reader that such a file has changed: all zeros if it is missing. One stat(2).
int record_version(const char *path, struct place_version *out, struct err *e) MUST_CHECK;
// Removes what killed writers left in the folder, and calls fn for each other name.
int record_names(struct place_folder *folder, place_list_fn *fn, void *ctx, struct err *e) MUST_CHECK;

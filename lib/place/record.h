// SPDX-License-Identifier: Apache-2.0
// Records: small files of a folder of their own, each created or replaced whole, or not at all. Other accounts may put
// things into these folders, so links are not followed, and pipes are not waited for. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/place/place.h"

// Opens a folder below `folder`; `below` has at most two components. make: it is created if it is missing, durably, with
// `folder` itself. ERR_NOT_FOUND, ERR_IO, ERR_DENIED (a link). The caller closes it.
struct place_folder *record_folder(const char *folder, const char *below, bool make, struct err *e) MUST_CHECK;
// The same for state, which no other account may read.
struct place_folder *record_secret_folder(const char *folder, const char *below, bool make, struct err *e) MUST_CHECK;
// Appends the bytes of a file. The message of an error does not name it. ERR_NOT_FOUND; ERR_INVALID: it is no regular
// file; ERR_LIMIT: it has more than `most` bytes; ERR_IO.
int record_read(struct place_folder *folder, const char *name, size_t most, struct buf *out, struct err *e) MUST_CHECK;
// Creates a file, durably; all accounts may read it, less the umask, unless the folder is secret. ERR_CONFLICT: the name is taken by
// another writer's file, also if that one has the same bytes. On another error the file is there as a whole, or not at all.
int record_create(struct place_folder *folder, const char *name, struct str text, struct err *e) MUST_CHECK;
// The same in place of the file that has the name. Its caller holds the lock of those who write it.
int record_replace(struct place_folder *folder, const char *name, struct str text, struct err *e) MUST_CHECK;
// Removes what killed writers left in the folder, and calls fn for each other name.
int record_names(struct place_folder *folder, place_list_fn *fn, void *ctx, struct err *e) MUST_CHECK;

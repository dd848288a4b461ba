// SPDX-License-Identifier: Apache-2.0
// The files below [store] views: immutable, created whole under their name or not at all. Other accounts may put things
// into these folders, so links are not followed, and pipes are not waited for. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/place/place.h"
#include "lib/state/store/freeze.h"

// The folder of the evidence below [store] views. No view can have this name.
#define VIEWS_FILE_EVIDENCE "evidence"

// Whether the folder, or that there is none, is known within this time: a file system may hang.
bool views_file_answers(const char *folder, unsigned ms);

// Opens a folder below `folder`; `below` has at most two components. make: it is created if it is missing, durably, with
// `folder` itself. ERR_NOT_FOUND, ERR_IO, ERR_DENIED (a link). The caller closes it.
struct place_folder *views_file_folder(const char *folder, const char *below, bool make, struct err *e) MUST_CHECK;
// Appends the bytes of a file. The message of an error does not name it. ERR_NOT_FOUND; ERR_INVALID: it is no regular
// file; ERR_LIMIT: it has more than `most` bytes; ERR_IO.
int views_file_read(struct place_folder *folder, const char *name, size_t most, struct buf *out, struct err *e) MUST_CHECK;
// Creates a file, durably; all accounts may read it, less the umask. ERR_CONFLICT: the name is taken by
// another writer's file, also if that one has the same bytes. On another error the file is there as a whole, or not at all.
int views_file_create(struct place_folder *folder, const char *name, struct str text, struct err *e) MUST_CHECK;
// Removes what killed writers left in the folder, and calls fn for each other name.
int views_file_names(struct place_folder *folder, place_list_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// --- its freeze ---
// The freeze of all platforms freezes the folder of memberships and evidence, too: nothing is promoted, demoted or sent
// while it has the file .wheelcache-frozen (lib/state/store/freeze.h). Any thread.

// Freezes the folder, or replaces the reason, and waits for writes that are under way. Errors as of freeze_set.
int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e) MUST_CHECK;
// *was_frozen: whether it was frozen. A folder that does not exist was not.
int views_thaw(const char *folder, bool *was_frozen, struct err *e) MUST_CHECK;
// To be called before something is created in the folder, which is made if it is missing. ERR_BUSY, with the reason, if
// it is frozen. Call freeze_leave in any case.
int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Tells when names in folders come, change and leave, by inotify(7): one watch for each folder. A folder is called by
// the path that the caller gives it.
//
// What came between folder_watch_add and a later listing of the folder is both told and listed, so nothing is missed by
// a caller that adds a folder before it lists it. Names that place_hides() are not told.
//
// Any thread may call all functions but folder_watch_free; one thread at a time calls folder_watch_read.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct folder_watch;

enum folder_event_kind {
	FOLDER_EVENT_CHANGED, // a file was written and closed, moved to this name, removed, or moved away
	FOLDER_EVENT_MADE,    // a file or a link was made: a file may be empty yet, and is told again when it is closed
	FOLDER_EVENT_FOLDER,  // a folder of this name was made or moved here, or a watched one is gone
	FOLDER_EVENT_LOST,    // the folder itself was removed, moved or unmounted; name is ""
	FOLDER_EVENT_OVERFLOW, // the kernel has dropped events: anything may have changed; folder and name are ""
};

// Borrowed for the call.
struct folder_event {
	enum folder_event_kind kind;
	const char *folder; // path, as in folder_watch_add
	const char *name;
};
// Must not call functions of this module.
typedef void folder_event_fn(void *ctx, const struct folder_event *event);

// most: how many folders at most. NULL: the system has no inotify, or gives this user no further instance.
struct folder_watch *folder_watch_new(size_t most, struct err *e) MUST_CHECK;
void folder_watch_free(struct folder_watch *w); // NULL is fine
// Becomes readable when there is something for folder_watch_read.
int folder_watch_fd(const struct folder_watch *w);

enum folder_watched {
	FOLDER_IS_WATCHED,
	FOLDER_WATCH_IS_FULL, // `most`, or fs.inotify.max_user_watches, is reached
	FOLDER_WATCH_FAILED,  // the folder is gone, or cannot be watched
};
// Watches the folder that fd has open. Under a path that is watched already: what is there now. path: names with "/"
// between, none of them empty. Needs /proc.
enum folder_watched folder_watch_add(struct folder_watch *w, const char *path, int fd);

bool folder_watch_has(struct folder_watch *w, const char *path);

// A round visits all folders. After its end the folders that were not added in it are not watched.
void folder_watch_begin_round(struct folder_watch *w);
void folder_watch_end_round(struct folder_watch *w);

// Calls fn for what has come, at most some thousand events; does not wait. False: nothing had come.
bool folder_watch_read(struct folder_watch *w, folder_event_fn *fn, void *ctx);

struct folder_watch_counts {
	size_t watched; // folders
	size_t refused; // folders that the last or the current round could not watch, because there were too many
	uint64_t overflows;
};
void folder_watch_count(struct folder_watch *w, struct folder_watch_counts *out);

// File systems whose changes inotify(7) does not report, because another machine or a program makes them: the name of
// the file system of an open file or folder if it is such a one; NULL: it reports its changes, or it is not known. Any
// thread.
const char *silent_fs_name(int fd);
// The same of a number of statfs(2).
const char *silent_fs_of_type(unsigned long type);
// Whether a lock of a file on it is one for all machines, and the lock of a folder is not.
bool silent_fs_shares_locks(int fd);

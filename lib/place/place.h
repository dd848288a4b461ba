// SPDX-License-Identifier: Apache-2.0
// A place: a tree of folders and files that the store, or a part of it, lies in. Nobody outside of lib/place sees what
// a place is made of. place-posix.h is the tree on a disk, on AFS and on NFS, place-s3.h a bucket; place-ops.h says
// what another kind provides. A place may have no folders of its own: there each path is one, and is listed where a
// file is below it.
//
// Paths are below the place, with "/" between names; "" is its top. A handle of a folder or file is open: it means what
// it was opened for, whatever has the name later. So what was compared is what is read. A version tells whether a
// file's bytes are those that were seen before. What a place knows from listing a folder it may answer from that
// handle.
//
// A file appears whole under its name, or not at all. Names are durable after place_sync(). Names that begin with a dot
// are the store's own: they are not listed, except the status of a project.
//
// Any thread may use a place; one thread at a time uses a handle. Pointers that are returned belong to the caller.
// Errors are ERR_NOT_FOUND (nothing has the name), ERR_DENIED (a link that leads out of the place, or in a circle),
// ERR_FULL (when something is written) and ERR_IO, and what a function names besides.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/os/byte-source.h"

// The sidecar whose name begins with a dot (lib/state/store/sidecar.h).
#define PLACE_STATUS ".status"
// Whether no listing has the name.
bool place_hides(const char *name);

struct blob;
struct folder_watch;
struct place;
struct place_folder;
struct place_file;
struct place_write;
struct place_lock;

// --- versions ---

// The catalog keeps all three; only the functions below compare them.
struct place_version {
	uint64_t size;
	int64_t time_ns; // of the last change, since 1970, as the place tells it
	uint64_t id;     // on a disk of the inode, and of a file's ctime: differs between copies of a file
};

enum place_match {
	PLACE_OTHER,
	PLACE_ALIKE, // size and time: the store was moved, or the file copied with its time; the bytes must be compared
	PLACE_SAME,
};
enum place_match place_version_match(const struct place_version *a, const struct place_version *b);
// Whether a change after looked_at (nanoseconds since 1970) is certain to change the version: fs_mtime_is_reliable().
bool place_version_is_settled(const struct place_version *v, int64_t looked_at);
// The same for a folder and the names in it. False for whole seconds, however old: a replica on AFS shows a folder as
// of its release, and the next release may add names of the same second.
bool place_names_are_settled(const struct place_version *v, int64_t looked_at);

enum place_kind {
	PLACE_UNKNOWN, // only in a listing
	PLACE_FILE,
	PLACE_FOLDER,
	PLACE_LINK,
	PLACE_ODD, // a pipe, a device
	PLACE_LEFTOVER, // only in a listing: an unfinished file, for place_sweep()
};

struct place_info {
	enum place_kind kind;
	struct place_version version;
	uint64_t device; // with version.id: which folder it is, by whatever path; 0: the place has no links
};

// --- a place ---

void place_free(struct place *p); // NULL is fine
// Where it is, for messages and for commands of the operator: a path on a disk. Borrowed.
const char *place_path(const struct place *p);
// Whether this path below it (NULL: its top), or that there is none, is known before clock_ms() reaches until_ms: a
// file server may hang. False: *why says why.
bool place_answers(const struct place *p, const char *below, int64_t until_ms, struct err *why);
// Makes its top, durably, if it is missing.
int place_make(const struct place *p, struct err *e) MUST_CHECK;
// The bytes that this account may still write; UINT64_MAX: unknown.
int place_room(const struct place *p, uint64_t *bytes, struct err *e) MUST_CHECK;

// Locks the whole place, for all processes on all machines that see it, as far as it can. The lock ends with the
// process. 1: locked; 0: the place has no locks, and nothing is held. ERR_BUSY: another holder had it for wait_ms.
int place_lock(const struct place *p, bool is_shared, unsigned wait_ms, struct place_lock **out, struct err *e) MUST_CHECK;
void place_unlock(struct place_lock **lock); // for CLEANUP; NULL is fine

// --- folders ---

struct place_folder *place_open_folder(const struct place *p, const char *path, struct err *e) MUST_CHECK;
// The same with a folder of an open one. ERR_DENIED: also a link that leads out of that one.
struct place_folder *place_enter(struct place_folder *f, const char *name, struct err *e) MUST_CHECK;
// 1: made, durably; 0: something has the name, or nothing needs to be made.
int place_make_folder(struct place_folder *f, const char *name, struct err *e) MUST_CHECK;
// Removes an empty folder.
int place_remove_folder(struct place_folder *f, const char *name, struct err *e) MUST_CHECK;
void place_folder_close(struct place_folder **f); // for CLEANUP
// Borrowed.
const struct place *place_of_folder(const struct place_folder *f);
// The place ends with this folder, the last to be closed of it. NULL: with nothing, now.
struct place_folder *place_end_with(struct place *p, struct place_folder *f);
int place_folder_info(struct place_folder *f, struct place_info *out, struct err *e) MUST_CHECK;
// Calls fn for each name, in any order, until it returns something else than 0, which is then returned. fn may use the
// folder, and remove the name.
typedef int place_list_fn(void *ctx, const char *name, enum place_kind kind, struct err *e);
int place_list(struct place_folder *f, place_list_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Whether nothing is listed. 1, 0, or -1.
int place_is_empty(struct place_folder *f, struct err *e) MUST_CHECK;
// 1: something has the name, and a link is a link; 0: nothing; -1.
int place_stat(struct place_folder *f, const char *name, struct place_info *out, struct err *e) MUST_CHECK;
// What the link of this name leads to. ERR_NOT_FOUND: it leads nowhere.
int place_follow(struct place_folder *f, const char *name, struct place_info *out, struct err *e) MUST_CHECK;
// Appends the text of a link; nothing where it cannot be read.
void place_link_text(struct place_folder *f, const char *name, struct buf *out);
// 1: removed; 0: nothing has the name. expected: as of place_replace().
int place_remove(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e) MUST_CHECK;
int place_sync(struct place_folder *f, struct err *e) MUST_CHECK;
// Removes an unfinished file whose writer is dead or has abandoned it. True if it is gone.
bool place_sweep(struct place_folder *f, const char *name);

enum place_watched {
	PLACE_IS_WATCHED,
	PLACE_IS_SILENT, // the place tells nothing of changes
	PLACE_WATCH_IS_FULL,
	PLACE_WATCH_FAILED,
};
// Has the watch tell what comes, changes and leaves in the folder from now on, under the name that the caller gives it
// (lib/place/folder-watch.h). *silent: for PLACE_IS_SILENT the name of the file system.
enum place_watched place_watch(struct place_folder *f, struct folder_watch *w, const char *as, const char **silent);

// --- files ---

// Never waits for the other end of a pipe: the caller asks for the kind.
struct place_file *place_open(const struct place *p, const char *path, struct err *e) MUST_CHECK;
// The same for a file of an open folder. ERR_DENIED: also a link that leads out of that one.
struct place_file *place_open_in(struct place_folder *f, const char *name, struct err *e) MUST_CHECK;
void place_file_close(struct place_file **f); // for CLEANUP
int place_file_info(struct place_file *f, struct place_info *out, struct err *e) MUST_CHECK;
// Its first bytes, for any thread. Borrows from f.
struct byte_source place_file_source(struct place_file *f, uint64_t size);
// All of its bytes will be read, in order.
void place_file_read_ahead(struct place_file *f);
// Reads len bytes from offset; *got is less only at the end. Messages of errors of both do not name the file.
int place_file_read_at(struct place_file *f, uint64_t offset, void *out, size_t len, size_t *got, struct err *e) MUST_CHECK;
// Appends its first `most` bytes, or what it has.
int place_file_read(struct place_file *f, size_t most, struct buf *out, struct err *e) MUST_CHECK;
// As blob_map(); what a client will read first is read now. NULL: ERR_IO.
struct blob *place_file_blob(struct place_file *f, uint64_t size, struct err *e) MUST_CHECK;
int place_file_sync(struct place_file *f, struct err *e) MUST_CHECK;

// --- writing ---

// A file that will have the name in the folder, which stays open until place_write_free(). ERR_FULL.
struct place_write *place_write_begin(struct place_folder *f, const char *name, struct err *e) MUST_CHECK;
int place_write_add(struct place_write *w, struct str bytes, struct err *e) MUST_CHECK;
// A full disk shows here at the latest.
int place_write_sync(struct place_write *w, struct err *e) MUST_CHECK;
// The file is to have this time of its last change, which the next write ends. 1: it will, to the second; 0: the place
// gives its files their times itself.
int place_write_time(struct place_write *w, int64_t time_ns, struct err *e) MUST_CHECK;
// What was written so far, for reading. Borrowed until the file gets its name.
struct place_file *place_write_file(struct place_write *w);
// Gives it its name, which nothing may have: ERR_CONFLICT. Nothing is written afterwards.
int place_put_new(struct place_write *w, struct err *e) MUST_CHECK;
// The same in place of what has the name. expected: ERR_CONFLICT if that is another version, or of all zeros, if
// anything has the name; NULL: whatever it is. Of those that expect the same one succeeds, as far as the place has
// locks. ERR_BUSY: a stranger holds the lock. It does not go with place_lock() of the same folder.
int place_replace(struct place_write *w, const struct place_version *expected, struct err *e) MUST_CHECK;
// Leaves an unfinished file where it is: place_sweep() removes it. For a writer that may not write any longer.
void place_write_abandon(struct place_write *w);
void place_write_free(struct place_write **w); // for CLEANUP; removes an unfinished file

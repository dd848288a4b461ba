// SPDX-License-Identifier: Apache-2.0
// The store: the tree of files that holds the wheels, and its platforms. The holder owns all strings. One thread until
// store_open, store_recall, store_register and store_find are done; read-only afterwards, from any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"

struct catalog;

enum {
	// Milliseconds. AFS retries a busy volume after 15 seconds, and fails after a minute if the server does not
	// answer.
	STORE_PATIENT = 90000, // for a command, which asks once
	STORE_PROMPT = 5000,   // for a server, which asks again
};

struct platform {
	char *name;
	char *path;       // absolute: root, or a folder below it
	char *root;       // links must not lead out of it: the store, or path itself if that is elsewhere
	char *folder;     // path relative to root; "." if both are the same
	char *write_path; // absolute: where wheelcache writes; path shows it after a release. NULL: path itself
	char *release;    // the command of a release; NULL: none is needed, or others run it
	char *volume;     // the name of the volume that is released
	uint64_t release_delay, release_timeout; // seconds
	bool is_mutable;                         // bytes may change under a name
	struct profile profile;                  // of its machines: decides which wheels install there
	bool is_private;                         // needs a token to be read
	uint64_t quota_bytes, quota_files;       // 0: none
	char *provides;                          // a root folder or a list of libraries; NULL: unknown
	bool is_away;                            // its folder did not answer: reading it may block for long
	atomic_bool *is_retired;                 // read with retired_is(); owned; NULL: it is not
	enum catalog_scanned scanned;            // as of store_register()
	int64_t id;                              // in the catalog; 0 until store_register()
};

struct store {
	char *path; // absolute, without links; NULL if every platform has a path of its own
	struct platform *platform;
	size_t platform_count;
	bool is_detected; // the platforms are the store's folders, not the configuration's
	char **stray;     // if is_detected: what else is at the top of the store
	size_t stray_count;
	int64_t waited; // milliseconds spent on folders that did not answer
};

// Finds the platforms: those of the configuration; else the first-level folders of the store that look like
// <os>-<version>-<arch>, by name; else the whole store as the single platform "wheels". If upstream is merged, no store
// and no platform are needed: a mirror of upstream alone. wait_ms: milliseconds for all folders together; a folder
// that does not answer in time is taken as it is named. ERR_USAGE: no store is given. ERR_NOT_FOUND, ERR_IO: it cannot
// be opened. The caller releases *out after success.
int store_open(const struct config *c, unsigned wait_ms, struct store *out, struct err *e) MUST_CHECK;
void store_release(struct store *s);
// If folders are platforms: adds those that the catalog has files of and whose folder is missing. So a volume that is
// not mounted keeps its pages until a scan is told that it was emptied on purpose. For a server; the scan compares.
int store_recall(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// Sets the id of every platform. Adds new ones to the catalog; writes nothing otherwise. ERR_USAGE: the catalog is of
// another store.
int store_register(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// The same without a write: a platform that the catalog does not have gets id 0.
int store_find(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// The platform of this id or name, borrowed; NULL if there is none.
const struct platform *store_platform(const struct store *s, int64_t id);
const struct platform *store_platform_named(const struct store *s, struct str name);
// Sets the error "the store has no platform NAME", with the one that was meant or those that there are. Returns -1.
int store_refuse_platform(const struct store *s, const char *name, enum err_kind kind, struct err *e);
// Whether a platform's name matches one of the globs of --platform; true without globs.
bool store_is_wanted(const char *const *glob, size_t globs, const char *platform);
// Opens a file by its path below the platform, never outside the store. Does not block on a FIFO, so the caller checks
// with fstat that it is a regular file. Returns the descriptor, which the caller closes; errors of fs_open_beneath.
int store_open_file(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// The same for a folder; "" is the platform's root.
int store_open_folder(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// The same two below the write path, which is the served path of most platforms.
int store_open_writable_file(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
int store_open_writable_folder(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// Whether written files are served only after a release.
bool store_is_split(const struct platform *p);

// SPDX-License-Identifier: Apache-2.0
// The store: the tree of files that holds the wheels, and which platforms it has.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"

struct catalog;

enum {
	// A volume of AFS that is busy is asked again after 15 seconds; one whose server is away fails after a minute.
	STORE_PATIENT = 90000, // for who asks once
	STORE_PROMPT = 5000,   // for who has others to look after, and will ask again
};

struct platform {
	char *name;
	char *path;       // absolute: root, or a folder below it
	char *root;       // what links must not lead out of: the store, or path itself where that is
			  // elsewhere
	char *folder;     // path, seen from root; "." where both are the same
	char *write_path; // absolute: where we write, which path shows after a release; NULL: path itself
	char *release;    // the command that releases it; NULL: others do, or nothing is to be done
	char *volume;     // what is released
	uint64_t release_delay, release_timeout; // seconds
	bool is_mutable;                         // bytes may change under a name
	struct profile profile;                  // what its machines are, and so which wheels install there
	bool is_private;                         // wants a token to read it
	uint64_t quota_bytes, quota_files;       // 0: none
	bool is_away;                            // its folder did not answer: whoever looks into it may wait for long
	enum catalog_scanned scanned;            // as of store_register(); what was never read whole may hold anything
	int64_t id;                              // in the catalog; 0 until store_register()
};

struct store {
	char *path; // absolute, without links; NULL where every platform has a path of its own
	struct platform *platform;
	size_t platform_count;
	bool is_detected; // the platforms are the store's folders, not the configuration's
	char **stray;     // where folders are platforms: what else is at the top of the store
	size_t stray_count;
	int64_t waited; // milliseconds, for folders that did not answer
};

// The platforms of the configuration; else the first-level folders of the store that look like
// <os>-<version>-<arch>, by name; else the whole store as the one platform "wheels".
// Without a store and without platforms there is nothing, where upstream is merged in: a mirror of that alone.
// A platform whose folder does not answer within the patience (milliseconds, for all together) is taken as it is named.
// ERR_USAGE where no store is given, ERR_NOT_FOUND or ERR_IO where it cannot be opened.
int store_open(const struct config *c, unsigned path_probe, struct store *out, struct err *e) MUST_CHECK;
void store_release(struct store *s);
// Where folders are platforms: adds those that the catalog has files of and that are not there now. A volume that is
// not mounted keeps its pages, until a scan is told that it was emptied on purpose. For a server; the scan compares.
int store_recall(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// Gives every platform its id, made in the catalog where it is new. Writes only then. ERR_USAGE
// where the catalog is of another store.
int store_register(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// The same without a write: a platform that the catalog does not know has the id 0.
int store_find(struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// The platform of this id; NULL where the store has none.
const struct platform *store_platform(const struct store *s, int64_t id);
const struct platform *store_platform_named(const struct store *s, struct str name);
// Whether a platform's name is among those that --platform GLOB asked for; without any globs each is.
bool store_is_wanted(const char *const *glob, size_t globs, const char *platform);
// Opens a file of the platform by its path below it, never outside of the store. Never waits, so
// what is opened may be no regular file: fstat tells. Returns the descriptor; errors of
// fs_open_beneath.
int store_open_file(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// The same for a folder; "" is the platform's root.
int store_open_folder(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// The same two where we write: beneath the write path, which is the served path of most platforms.
int store_open_writable_file(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
int store_open_writable_folder(const struct platform *p, const char *path, struct err *e) MUST_CHECK;
// Whether what we write is served only after a release.
bool store_is_split(const struct platform *p);

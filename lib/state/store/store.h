// SPDX-License-Identifier: Apache-2.0
// The store: the tree of files that holds the wheels, and its platforms. The holder owns all strings. One thread until
// store_open, store_recall, store_register and store_find are done; read-only afterwards, from any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/machine/profile.h"
#include "lib/place/place.h"
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
	struct place *place;   // what is served; links must not lead out of the store, or of the place if that is elsewhere
	struct place *written; // where wheelcache writes: place itself, or what it shows after a release
	char *release;         // the command of a release; NULL: none is needed, or others run it
	char *volume;     // the name of the volume that is released
	uint64_t release_delay, release_timeout; // seconds
	bool is_mutable;                         // bytes may change under a name
	struct profile profile;                  // of its machines: decides which wheels install there
	bool is_private;                         // needs a token to be read
	uint64_t quota_bytes, quota_files;       // 0: none
	char *provides;                          // a root folder or a list of libraries; NULL: unknown
	bool is_away;                            // its folder did not answer: reading it may block for long
	char *away_why;                          // what is said of its bucket then; NULL: a folder just does not answer
	atomic_bool *is_retired;                 // read with retired_is(); owned; NULL: it is not
	enum catalog_scanned scanned;            // as of store_register() or store_find()
	int64_t id;                              // in the catalog; 0 until store_register()
};

struct store {
	char *path; // absolute, without links; NULL if every platform has a path of its own
	struct place *top; // that path; NULL likewise
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
// Takes the catalog of another store over, because the store has moved: what is read from wheels is made again. Before
// store_register(). Does nothing if the catalog is this store's, or nobody's; else logs it. ERR_USAGE: no folder of
// a platform has anything in it, so that a volume that is not mounted does not empty the catalog.
int store_adopt(const struct store *s, struct catalog *c, struct err *e) MUST_CHECK;
// Only what it refuses. *before: the other store of which the catalog is, which the caller frees; NULL: it is of none.
int store_adopt_check(const struct store *s, struct catalog *c, char **before, struct err *e) MUST_CHECK;
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
// Opens a file, by its path below the platform, that still is the one which the catalog has the SHA-256 of. Any thread.
// ERR_BUSY: it is another one now.
struct place_file *store_open_known(const struct platform *p, const char *path, const struct place_version *known,
	struct err *e) MUST_CHECK;
// Whether written files are served only after a release.
bool store_is_split(const struct platform *p);

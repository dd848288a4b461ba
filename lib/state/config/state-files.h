// SPDX-License-Identifier: Apache-2.0
// Where the state of an index lies: the catalog, and the one list of what lies beside it or in [state] path. Any
// thread.
//
// What nothing else knows are records (lib/place/record.h): a folder of files that one writer each creates, or a file
// that is changed by record_change(). Its version says that it has changed, and the lock of its folder that nobody
// changes it at the same time. The audit log is the exception: lines are only added, under a lock of the file itself
// (lib/state/access/audit.h), since a change of the whole for each line would be as slow as the log is long.
#pragma once

#include "lib/state/config/config.h"

// The path of a store's catalog, unless the configuration names one: a file per store, named after the store's last
// component and a hash of its real path, in $STATE_DIRECTORY (systemd), $XDG_STATE_HOME/wheelcache,
// ~/.local/state/wheelcache, or /var/lib/wheelcache if there is no home. The caller frees it.
char *catalog_default_path(const char *store_path);

enum state_file {
	// Made anew if they are lost.
	STATE_FILE_CHANGES,    // the change count (lib/state/catalog/changes.h)
	STATE_FILE_SCAN_LOCK,  // one scan of all at a time,
	STATE_FILE_WATCH_LOCK, // one of what has changed,
	STATE_FILE_PRUNE_LOCK, // and one prune
	STATE_FILE_RESERVED,   // a folder: space that uploads have reserved (lib/state/store/reservation.h)
	STATE_FILE_PROBED,     // empty: when the engines of buckets were probed (cli/common/probe-places.h)
	STATE_FILE_BUILDS,     // the index of STATE_FILE_ATTEMPTS
	// What nothing else knows, of this machine.
	STATE_FILE_RELEASE, // a folder: what volume releases still have to show (lib/state/store/volume-release.h)
	// What nothing else knows: in [state] path.
	STATE_FILE_TOKENS,      // lib/state/access/tokens.h; changed by record_change(), as the next three,
	STATE_FILE_DOWNLOADS,   // lib/state/access/downloads.h
	STATE_FILE_DOWNLOADERS, // the same, by whom
	STATE_FILE_OWNED_NAMES, // names that are ours (lib/state/upstream/owned-names.h)
	STATE_FILE_AUDIT,       // with the files that were moved on (lib/state/access/audit.h)
	STATE_FILE_ATTEMPTS,    // a folder: attempts to build wheels, with their logs (lib/state/results/attempt-file.h)
	STATE_FILE_ARRIVALS,    // a folder: when files and projects came (lib/state/catalog/arrivals.h)
	STATE_FILE_ADVISORIES,  // a folder: the last good block lists (lib/advisories/advisories.h)
	STATE_FILE_OFFERS,      // a folder: what decides which files of upstreams are offered (holds, first-seen, right-clock)
	STATE_FILE_MIRRORS,     // a folder: what mirrors keep of upstreams (lib/state/upstream/mirror.h)
	STATE_FILE_COUNT,
};
// Its path: as configured, else beside the catalog. c NULL: no key names another place. The caller frees it.
char *state_file(const struct config *c, const char *catalog_path, enum state_file which);
// The folder of the files of an upstream (lib/state/upstream/file-cache.h), which is made anew if it is lost. Each has
// one of its own, whatever files-path says: that of [upstream], or with ".NAME" behind it. The caller frees it.
char *state_file_upstream(const struct config_upstream *u, const char *catalog_path);

// The same for who knows only the catalog: in the folder that state_files_settle() noted, else beside the catalog.
char *state_file_noted(const char *catalog_path, enum state_file which);

// Moves what lies elsewhere to [state] path, once: from beside the catalog, or from the folder that was configured
// before, which CATALOG.state names. To be called by each command that uses any of it. A crash in between loses
// nothing, and the next call goes on. is_writer: this command writes; ERR_USAGE for another one while there is
// something to move. ERR_USAGE too: no [state] path is configured any more, or a file is on another file system.
int state_files_settle(const struct config *c, const char *catalog_path, bool is_writer, struct err *e) MUST_CHECK;

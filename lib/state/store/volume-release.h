// SPDX-License-Identifier: Apache-2.0
// Volume releases: files at a platform's write path are served after its release command has run. Files that need one
// are listed beside the catalog (catalog.db.release/PLATFORM.wanted), one per line, so that they survive the end of a
// process. During a release, and after a failed one, the lines are in PLATFORM.running.
//
// Any number of processes of one machine may request and run releases; one volume has one release at a time. Any
// thread. A platform without a release command never needs one. Errors are ERR_IO, if not said otherwise.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/store/store.h"

// Requests a release. To be called after a file was written or removed, and before that is reported.
int volume_release_want(const char *catalog, const struct platform *p, const char *folder, const char *filename,
	struct err *e) MUST_CHECK;
// Whether a release is requested. *since: seconds since 1970.
bool volume_release_is_wanted(const char *catalog, const struct platform *p, int64_t *since);
// The files that are at the write path and not yet at the served path.
struct volume_release_backlog {
	uint64_t files, bytes;
};
int volume_release_backlog(const char *catalog, const struct platform *p, struct volume_release_backlog *out,
	struct err *e) MUST_CHECK;
// Runs a requested release: runs the command, waits until the served path shows the files, and updates the catalog.
// 1: done; 0: none is requested. ERR_BUSY: another process runs one, and waits is false. ERR_IO: the command
// (lib/os/hook.h) failed, or the served path does not show the files; the release stays requested. *end_ms: the time
// (clock_ms) at which the command is stopped.
int volume_release_run(const char *catalog, const struct platform *p, const _Atomic int64_t *end_ms, bool waits,
	struct err *e) MUST_CHECK;

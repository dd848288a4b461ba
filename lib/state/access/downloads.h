// SPDX-License-Identifier: Apache-2.0
// How often each file was downloaded completely, and on which day first and last: a text file of the state
// (state_file()), to which the servers add their counts. It is not part of the store or of any page: losing it loses
// only the counts. Each change replaces it whole (record_change()); a file that was torn otherwise lacks its last line.
//
//     wheelcache-downloads 2 2026-11-21
//     ubuntu-22.04-x86_64/foo-1.0-py3-none-any.whl 12 2026-11-21 2026-11-23
//     upstream/pypi/six/six-1.16.0-py2.py3-none-any.whl 1 2026-11-22 2026-11-22
//     end 2
//
// The first line has the day on which counting began; all days are in UTC. The other lines are sorted by their keys. A
// file of form 1, whose lines have no first day, is read too.
//
// A second file of this form says who, where the operator wants that: behind the key of a file a tab, and "token NAME"
// or "address ADDRESS". So many of a file have a line of their own, those that came last; all others share "others".
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

enum {
	DOWNLOADS_DAYS = 730, // a file without downloads is kept for so long
	DOWNLOADS_WHO = '\t',
};
#define DOWNLOADS_OTHERS "others"

struct downloads;

// Reads the file. ERR_NOT_FOUND: there is none. ERR_INVALID: it is torn. ERR_IO.
int downloads_open(const char *path, struct downloads **out, struct err *e) MUST_CHECK;
void downloads_close(struct downloads *d);    // NULL is fine
void downloads_cleanup(struct downloads **d); // for CLEANUP

struct download {
	uint64_t count;
	int64_t last;  // the start of the day of the last download, seconds since 1970
	int64_t first; // the same of the first one; 0: an earlier release has counted it
};
// False if the file has no downloads. Any thread.
bool downloads_find(const struct downloads *d, const char *platform, const char *filename, struct download *out);

// The start of the day on which counting began, in seconds since 1970. Any thread.
int64_t downloads_since(const struct downloads *d);

// A file that was counted: of a platform, or of an upstream.
struct downloaded_file {
	struct str platform;          // ptr NULL: of an upstream
	struct str upstream, project; // if so: its name, and the project in normal form
	struct str filename;
	struct str who; // "token NAME", "address ADDRESS" or DOWNLOADS_OTHERS; ptr NULL: the file does not say
};
// Calls fn for each file, in the order of the keys. Borrowed. Errors of fn. Any thread.
typedef int downloads_fn(void *ctx, const struct downloaded_file *file, const struct download *download, struct err *e);
int downloads_each(const struct downloads *d, downloads_fn *fn, void *ctx, struct err *e) MUST_CHECK;

enum downloaded { DOWNLOADED_NO, DOWNLOADED_YES, DOWNLOADED_UNKNOWN };
// Whether the file was downloaded in the last `seconds` before now, by whole days. UNKNOWN: counting began later (d
// NULL: never). Any thread.
enum downloaded downloads_within(const struct downloads *d, const char *platform, const char *filename, int64_t now,
	int64_t seconds);

// The new downloads of one file; each file once.
struct downloads_news {
	const char *key; // "PLATFORM/FILE" or "upstream/NAME/PROJECT/FILE", perhaps with who behind it; borrowed
	uint64_t count;  // 0: nothing happens
};
// Which file it is.
struct downloads_place {
	const char *path;
	int64_t kept; // seconds: what nobody has downloaded for longer is dropped
	size_t each;  // so many clients of a file have a line of their own, fewer if that is too much; 0: it says nobody
	size_t most;  // bytes
};
// Adds the new downloads, of the time now (seconds since 1970), to the file; creates it if it is missing or torn.
// Without any it drops what is too old, where the file says who. Sorts news. O(news + lines): not for an event loop.
// Any thread. Errors of record_change().
int downloads_add(const struct downloads_place *place, struct downloads_news *news, size_t count, int64_t now,
	struct err *e) MUST_CHECK;

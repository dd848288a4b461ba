// SPDX-License-Identifier: Apache-2.0
// How often each file was downloaded whole, and on which day last: a file of text beside the catalog, to which the
// servers on that catalog add what they counted (server/message/download-counter). It is no part of the store and of no page: losing it
// costs nothing but the counts, and they say since when they count. Replaced whole, under a lock, without fsync: what a
// crash tore is seen by its missing last line.
//
//     wheelcache-downloads 1 2026-11-21
//     ubuntu-22.04-x86_64/foo-1.0-py3-none-any.whl 12 2026-11-23
//     end 1
//
// The first line has the day since which is counted, in UTC as all days; the others are ordered by their bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

enum { DOWNLOADS_DAYS = 730 }; // so long a file is remembered that nobody downloads any more

struct downloads;

// Where it is: beside the catalog. To be freed by the caller.
char *downloads_path(const char *catalog_path);

// As it is now. ERR_NOT_FOUND where nobody has ever counted, ERR_INVALID where it is torn.
int downloads_open(const char *catalog_path, struct downloads **out, struct err *e) MUST_CHECK;
void downloads_close(struct downloads *d);    // NULL is fine
void downloads_cleanup(struct downloads **d); // for CLEANUP

struct download {
	uint64_t count;
	int64_t last; // the beginning of the day of the last one, seconds since 1970
};
// False where it was not downloaded since then. Thread-safe.
bool downloads_find(const struct downloads *d, const char *platform, const char *filename, struct download *out);

enum downloaded { DOWNLOADED_NO, DOWNLOADED_YES, DOWNLOADED_UNKNOWN };
// Whether it was downloaded in the last so many seconds before now, by whole days. UNKNOWN where nobody counted for so
// long (d NULL: never).
enum downloaded downloads_within(const struct downloads *d, const char *platform, const char *filename, int64_t now,
	int64_t seconds);

// What was counted of one file; once in the news.
struct downloads_news {
	const char *key; // "platform/file name"; borrowed
	uint64_t count;  // 0: nothing happens
};
// Adds the news of this moment (seconds since 1970) to the file, and makes it where it is missing or torn. Orders the
// news. Waits for others who do the same. Its time and memory go by the news and the lines of the file: for a thread
// that has time.
int downloads_add(const char *catalog_path, struct downloads_news *news, size_t count, int64_t now,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// When a file that a page has without an upload time was first seen here, and the upload times of young files that left
// their page. Both outlive the catalog: a record for each project, FOLDER/seen/PROJECT (lib/place/record.h), with a
// line of 36 bytes for each file, "KEY SECONDS", or "KEY=SECONDS" for an upload time. KEY is the beginning of a hash of
// the upstream's name, the file's name and its SHA-256: other bytes are another file. Any thread; any number of
// processes: of two that write at the same time both saw the files just now.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct simplepage;

// Sets `seen` of each file without an upload time. What was not seen before was seen at `at` (seconds since 1970), and
// is recorded. A record that cannot be read or written is an error, and `seen` is `at` nevertheless. ERR_IO, ERR_FULL,
// ERR_LIMIT (LIMIT_FIRST_SEEN).
int first_seen_fill(const char *folder, const char *upstream, struct simplepage *page, int64_t at,
	struct err *e) MUST_CHECK;
// Keeps the upload times of those files of a page that the next one has not (stays[i] is false) and that were uploaded
// after `since`, so that they count when the files come back; drops kept ones that are older. Files without a SHA-256
// are left out. Errors as above; then the record is as it was.
int first_seen_keep(const char *folder, const char *upstream, const struct simplepage *before, const bool *stays,
	int64_t since, struct err *e) MUST_CHECK;
// Gives files of a page the upload times that were kept, but for those that the page before had (is_old[i]). *count
// rises by those that the page has with another one, and *changed becomes the name of the first if it was 0. ERR_IO,
// ERR_LIMIT.
int first_seen_recall(const char *folder, const char *upstream, struct simplepage *page, const bool *is_old,
	const char **changed, size_t *count, struct err *e) MUST_CHECK;

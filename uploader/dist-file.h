// SPDX-License-Identifier: Apache-2.0
// A file that is to be pushed: read and judged once, as strictly as the server will.
#pragma once

#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "lib/net/fetch.h"

struct dist_file {
	const char *path;     // borrowed
	const char *filename; // the last part of path
	char *project;        // normalised
	// What the form says of it, as the file itself does.
	const char *filetype;
	char *pyversion, *name, *version, *metadata_version;
	char sha256[SHA256_HEX + 1];
	struct stat st;
};

// Only its path and file name are known then. To be released.
void dist_file_init(struct dist_file *p, const char *path);
// ERR_INVALID or ERR_LIMIT: it is not what a server could take, and why; others: it cannot be
// read. It stays as it was then.
int dist_file_read(struct dist_file *p, struct err *e) MUST_CHECK;
void dist_file_release(struct dist_file *p);
// Opens it once more. ERR_BUSY where it is another one now.
int dist_file_open(const struct dist_file *p, struct err *e) MUST_CHECK;

enum { DIST_FILE_FIELDS = 8 };
// The form of the legacy upload API. Its strings are the parcel's.
void dist_file_form(const struct dist_file *p, struct fetch_field field[DIST_FILE_FIELDS]);

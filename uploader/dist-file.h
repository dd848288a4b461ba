// SPDX-License-Identifier: Apache-2.0
// A file to push: read and checked once, as strictly as the server checks it. One thread at a time per file.
#pragma once

#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "lib/net/fetch.h"
#include "lib/place/place.h"

struct dist_file {
	const char *path;      // borrowed
	const char *filename;  // the last part of path
	const char *statement; // of its provenance, to be sent with it; borrowed; NULL: none
	char *project;         // normalised
	// The fields of the upload form, from the file's metadata.
	const char *filetype;
	char *pyversion, *name, *version, *metadata_version;
	char sha256[SHA256_HEX + 1];
	struct place_version read; // the version that was read
};

// Sets the path and the file name only. To be released.
void dist_file_init(struct dist_file *d, const char *path);
// Reads the file and sets the other fields. ERR_INVALID or ERR_LIMIT: no server would accept the file, or its
// statement; other errors: it cannot be read. On an error d is as after dist_file_init.
int dist_file_read(struct dist_file *d, struct err *e) MUST_CHECK;
void dist_file_release(struct dist_file *d);
bool dist_file_is_wheel(const struct dist_file *d); // after dist_file_read
// Opens the file again. ERR_BUSY where it has changed since dist_file_read. The caller closes the descriptor.
int dist_file_open(const struct dist_file *d, struct err *e) MUST_CHECK;

enum { DIST_FILE_FIELDS = 9 };
// Fills in the form of the legacy upload API, and returns the number of fields. Its strings are borrowed from d.
size_t dist_file_form(const struct dist_file *d, struct fetch_field field[DIST_FILE_FIELDS]);

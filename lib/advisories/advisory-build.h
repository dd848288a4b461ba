// SPDX-License-Identifier: Apache-2.0
// Makes the file of a list (lib/advisories/advisory-list.h) of records, one by one. What it keeps in memory is the
// index, which has a limit; the records themselves go to the file. One thread at a time.
#pragma once

#include "lib/advisories/osv-record.h"
#include "lib/place/place.h"

struct advisory_build;

// The file will have the name in the folder, which stays open as long; NULL: nothing is written, and all is checked.
// most: bytes of the index. The caller frees the result.
struct advisory_build *advisory_build_new(struct place_folder *folder, const char *name, size_t most,
	struct err *e) MUST_CHECK;
void advisory_build_free(struct advisory_build *b); // NULL is fine; without the end there is no file
// Adds a record and its text. name: of its file, for what says that it is wrong. ERR_LIMIT: the index is too large;
// ERR_FULL, ERR_IO.
int advisory_build_add(struct advisory_build *b, const struct osv_record *r, struct str text, const char *name,
	struct err *e) MUST_CHECK;
// Sorts all, and gives the file its name, in place of an older list. fingerprint: of the source; 0: it may still
// change.
int advisory_build_end(struct advisory_build *b, uint64_t fingerprint, struct err *e) MUST_CHECK;

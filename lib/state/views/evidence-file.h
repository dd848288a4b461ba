// SPDX-License-Identifier: Apache-2.0
// Evidence as the store keeps it: FOLDER/evidence/ab/abcd….json, named after the SHA-256 of the record in its only
// form. The file has the record and what the index noted when it came: {"record": {…}, "received": time with
// nanoseconds, "by", "address", "views"}. A file never changes; the same record that comes again changes nothing, so
// that nobody makes an old record new by sending it again. One thread at a time for each catalog connection.
//
// Who sends a record first does not decide for which views it counts: if it comes again for further views, they are in
// a further file, {"again": true} with the same time, named after the SHA-256 of the record with these views behind it.
#pragma once

#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/place/place.h"
#include "lib/state/catalog/catalog-evidence.h"

// Writes the record, durably, and then its row in the catalog. The caller sets by, address and views of *note; the rest
// is set here from the record and the clock. 1: it is new, or new for these views; 0: it was there, and *note is as it
// was noted then as far as the numbers go. ERR_LIMIT, ERR_INVALID: the record, or *note, is not valid. ERR_BUSY: the
// folder is frozen, or the newest record came more than a day after the clock.
int evidence_file_add(const char *folder, struct catalog *c, const struct evidence *r, struct catalog_evidence *note,
	struct err *e) MUST_CHECK;

// 1: evidence_file_add() would find the record, and that it counts for these views; 0: it would not.
int evidence_file_is_known(struct catalog *c, const struct evidence *r, const char *views, struct err *e) MUST_CHECK;

// A file that was read. The row borrows from the record and from text.
struct evidence_file {
	struct evidence record;
	struct catalog_evidence row;
	struct arena text;
};
// ERR_INVALID names the value that is absent or wrong, as a time more than a day after the clock is: each later record
// would have to be newer; ERR_LIMIT. The caller releases *out if this returns 0.
int evidence_file_read(struct str json, struct evidence_file *out, struct err *e) MUST_CHECK;
void evidence_file_release(struct evidence_file *f); // for CLEANUP

// Where the file of a record is: "evidence/ab", and "abcd….json".
enum {
	EVIDENCE_FILE_FOLDER = 12,
	EVIDENCE_FILE_NAME = SHA256_HEX + 6,
	EVIDENCE_FILE_MOST = LIMIT_EVIDENCE + (64 << 10)
};
void evidence_file_folder(uint8_t first, char out[EVIDENCE_FILE_FOLDER]);
void evidence_file_name(const uint8_t id[SHA256_SIZE], char out[EVIDENCE_FILE_NAME]);
// Whether it is the name of such a file; then *id is set.
bool evidence_file_is(const char *name, uint8_t id[SHA256_SIZE]);
// When the record of a file came, in nanoseconds, also in the future. False: it is damaged.
bool evidence_file_order(struct str json, int64_t *order);
// Writes the file again with another time, and its row in the catalog. ERR_INVALID and errors of the store.
int evidence_file_retime(struct place_folder *folder, const char *name, int64_t order, struct catalog *c, struct err *e) MUST_CHECK;
// A wheel of a record as the catalog has it. Borrowed from the wheel and from text. ERR_INVALID: the name of its file.
int evidence_file_tested(const struct evidence_wheel *w, struct arena *text, struct catalog_tested *out,
	struct err *e) MUST_CHECK;
// Puts a file that was read into the catalog, between catalog_begin and catalog_commit. 1: it is new; 0: it is not.
int evidence_file_put(struct catalog *c, const struct evidence_file *f, struct str text, struct err *e) MUST_CHECK;

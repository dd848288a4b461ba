// SPDX-License-Identifier: Apache-2.0
// Evidence as the store keeps it: FOLDER/evidence/ab/abcd….json, named after the SHA-256 of the record in its only form.
// The file has the record and what the index noted when it came: {"record": {…}, "received": time with nanoseconds,
// "by", "address", "views"}. A file never changes; the same record that comes again changes nothing, so that nobody
// makes an old record new by sending it again. But who sent a record first must not decide for which views it counts:
// if it comes again from a sender whose token counts for other views, that note stands in FOLDER/evidence/ab/ID-HASH.json,
// a file of the same form, where HASH is the beginning of the SHA-256 of its views. The record then counts for the views
// of all its files, from the moment at which the first one came. One thread at a time for each catalog connection.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/state/catalog/catalog-evidence.h"

// Writes the record, durably, and then its row in the catalog. The caller sets by, address and views of *note; the rest
// is set here from the record and the clock. 1: it is new; 0: it was there, and *note is as it was noted then as far as
// the numbers go; it counts for the views of *note too.
int evidence_file_add(const char *folder, struct catalog *c, const struct evidence *r, struct catalog_evidence *note,
	struct err *e) MUST_CHECK;

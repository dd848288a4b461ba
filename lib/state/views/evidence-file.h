// SPDX-License-Identifier: Apache-2.0
// Evidence as the store keeps it: FOLDER/evidence/ab/abcd….json, named after the SHA-256 of the record in its only form.
// The file has the record and what the index noted when it came: {"record": {…}, "received": time with nanoseconds,
// "by", "address", "views"}. A file never changes; the same record that comes again changes nothing, so that nobody
// makes an old record new by sending it again. One thread at a time for each catalog connection.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/state/catalog/catalog-evidence.h"

// Writes the record, durably, and then its row in the catalog. The caller sets by, address and views of *note; the rest
// is set here from the record and the clock. 1: it is new; 0: it was there, and *note is as it was noted then as far as
// the numbers go.
int evidence_file_add(const char *folder, struct catalog *c, const struct evidence *r, struct catalog_evidence *note,
	struct err *e) MUST_CHECK;

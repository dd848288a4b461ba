// SPDX-License-Identifier: Apache-2.0
// Ends old evidence: deletes the files of records that came longer ago than keep, and that no generation of a
// membership names. One thread at a time for each catalog connection.
#pragma once

#include "lib/state/catalog/catalog.h"

// To be called after views_sync(), which says that no membership is damaged; where one is, nothing ends. keep: seconds;
// 0: all are kept. now: seconds since 1970. Adds the number of records to *ended. Of more than 100,000 old ones the
// oldest are looked at. ERR_BUSY: the folder is frozen; ERR_IO; errors of catalog.h.
int evidence_expire(const char *folder, struct catalog *c, uint64_t keep, int64_t now, uint64_t *ended,
	struct err *e) MUST_CHECK;

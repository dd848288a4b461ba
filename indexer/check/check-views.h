// SPDX-License-Identifier: Apache-2.0
// The part of the check for views with a membership: compares their files and the evidence with the catalog, and looks
// for members whose bytes are gone. It writes nothing. One thread at a time for each catalog connection.
#pragma once

#include "indexer/walk/summary.h"
#include "lib/state/catalog/catalog.h"

// Differences are in the summary (CHECK_REPORT_LIST_VIEWS). folder: of memberships and evidence; NULL: there is none.
// Errors of catalog.h.
int check_views(struct catalog *c, const char *folder, struct summary *summary, struct err *e) MUST_CHECK;

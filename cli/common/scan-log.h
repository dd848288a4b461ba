// SPDX-License-Identifier: Apache-2.0
// What a server logs of a scan. Any thread.
#pragma once

#include "indexer/walk/scan-report.h"

// A line with what changed in the catalog, if anything did, and one for each name that has other bytes now, but for those
// of private platforms. activity: "scan" or "watch".
void scan_log_summary(const char *activity, const struct summary *s);

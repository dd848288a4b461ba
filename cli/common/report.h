// SPDX-License-Identifier: Apache-2.0
// Prints the summary of a scan or check. One thread at a time.
#pragma once

#include "cli/common/cli-config.h"
#include "indexer/walk/summary.h"
#include "lib/base/err.h"

// Prints to standard output: JSON with --json, otherwise a table, or nothing with --quiet. ERR_IO if writing fails.
int report_print(const struct cli_config *s, const struct summary *summary, struct err *e) MUST_CHECK;

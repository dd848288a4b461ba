// SPDX-License-Identifier: Apache-2.0
// How a command tells what it did: the options for it, and the summary at the end.
#pragma once

#include <stdbool.h>

#include "indexer/walk/summary.h"
#include "lib/base/err.h"

struct report {
	bool is_json;  // --json
	bool is_quiet; // --quiet
};

// To the standard output; nothing where it is quiet and not JSON.
int report_print(const struct report *r, const struct summary *summary, struct err *e) MUST_CHECK;

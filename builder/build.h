// SPDX-License-Identifier: Apache-2.0
// Builds what is missing on one platform: learns the rows from a server or our own store, tries them in parallel, each
// alone, keeps each result, and publishes each good wheel at once. Ends by itself, or when it is stopped; what is left
// is taken by the next run.
#pragma once

#include "builder/build-report.h"
#include "builder/build-state.h"
#include "lib/base/err.h"

// The caller releases *out, also after an error of the run itself: ERR_USAGE (options, no such platform, the index
// holds it), ERR_BUSY (another builder has the work folder), errors of the server and of our own files. A row that
// fails is no error: see build_report_verdict(). What options point to outlives *out.
int build_run(const struct build_options *options, struct build_report *out, struct err *e) MUST_CHECK;

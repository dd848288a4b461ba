// SPDX-License-Identifier: Apache-2.0
// A comparison of two wheels as tables for people: what differs; equal rows are folded into a number. Any thread.
#pragma once

#include "auditor/compare/report-sheet.h"
#include "auditor/compare/wheel-compare.h"
#include "lib/format/jsondoc.h"

// The caller releases *out, which starts as zeros.
void wheel_compare_sheet(const struct wheel_compare *c, struct report_sheet *out);
// The comparison as JSON (wheelcache(1) has its form). The caller frees it.
struct jsondoc *wheel_compare_json(const struct wheel_compare *c);

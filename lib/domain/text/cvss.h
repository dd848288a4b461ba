// SPDX-License-Identifier: Apache-2.0
// Scores of vulnerabilities: the base score of a vector of CVSS 3.0, 3.1 (section 7.1) or 4.0 (section 8; here without
// its threat and environmental metrics, which is CVSS-B). Debian has no C library for it. Pure; any thread.
#pragma once

#include "lib/base/str.h"

enum { CVSS_NONE = -1 };

// In tenths: 0 to 100. CVSS_NONE: it is no vector of these versions, or lacks a base metric. Other metrics may be any.
int cvss_base_score(struct str vector);

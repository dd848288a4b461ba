// SPDX-License-Identifier: Apache-2.0
// What is missing as a table for people. Pure; any thread.
#pragma once

#include "builder/missing/missing.h"

// Appends the totals of each platform and Python, and then the rows.
void missing_print(const struct missing *m, struct buf *out);

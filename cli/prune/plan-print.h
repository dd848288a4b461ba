// SPDX-License-Identifier: Apache-2.0
// Prints a plan as a table: which files are removed and kept, by platform, and its problems. Any thread.
#pragma once

#include <stdio.h>

#include "lib/state/config/config.h"
#include "pruner/plan/planfile.h"

// c has the limits that "prune apply" checks the plan against.
void plan_print(const struct planfile_head *head, const struct config *c, FILE *out);

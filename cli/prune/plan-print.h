// SPDX-License-Identifier: Apache-2.0
// A plan as a table for people: what goes and what stays, by platform, and what is wrong with it.
#pragma once

#include <stdio.h>

#include "lib/state/config/config.h"
#include "pruner/plan/planfile.h"

// c has the caps that "prune apply" will hold the plan against.
void plan_print_print(const struct planfile_head *head, const struct config *c, FILE *out);

// SPDX-License-Identifier: Apache-2.0
// The connection to a file of build results; only for results-write.c and results-read.c.
#pragma once

#include "lib/state/database/database.h"
#include "lib/state/results/results-schema.h"

struct results {
	struct database *database;
	char *path;
};

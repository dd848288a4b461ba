// SPDX-License-Identifier: Apache-2.0
// Tables of reStructuredText. One whose cells span several columns or rows, or that is damaged, is shown as it is
// written.
#pragma once

#include "lib/readme/rst-inline.h"

// Each writes the table that begins in line i and returns the first line behind it, or i if none begins there.
size_t rst_simple_table(struct rst *r, size_t i, size_t to);
size_t rst_grid_table(struct rst *r, size_t i, size_t to);

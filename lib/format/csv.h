// SPDX-License-Identifier: Apache-2.0
// Writes CSV (RFC 4180) that a spreadsheet shows as text. Any thread.
#pragma once

#include "lib/base/buf.h"

// Adds a field, in quotes where it needs them. A text that a spreadsheet would take for a formula gets a "'" in front.
void csv_field(struct buf *out, struct str text);
void csv_end_row(struct buf *out);
// The separator: before each field but the first of a row.
void csv_next(struct buf *out);

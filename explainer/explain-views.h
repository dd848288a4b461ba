// SPDX-License-Identifier: Apache-2.0
// The text of what an explanation says about the views that show a file, and about its membership. Pure; any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// Appends the lines of the file's row (explainer/explain.h), each behind the indent.
void explain_views_text(const struct jsondoc *row, const char *indent, struct buf *out);

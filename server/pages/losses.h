// SPDX-License-Identifier: Apache-2.0
// The part of a page for people that says which members of views the store has lost: of explainer/explain-membership.h. Any
// thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// lost: NULL or empty: nothing is written. The first writes a word for the header; up: the path from the page to "/-".
void losses_state(const struct jsondoc *lost, struct buf *out);
void losses_table(const struct jsondoc *lost, const char *up, struct buf *out);

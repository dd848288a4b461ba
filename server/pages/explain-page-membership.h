// SPDX-License-Identifier: Apache-2.0
// The part of a project's page for people that says in which views its files are, since when and on which evidence, and
// what keeps the others out. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// explanation: of explainer/explain.h. up: the path from the page to "/-". Nothing if no file is in a view of the
// configuration, and the page's view has no membership.
void explain_page_membership(const struct jsondoc *explanation, const char *up, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// The part of a project's page for people that says who built its files, when, and, for one version, from what. Any
// thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// explanation: of explainer/explain.h. up: the path from the page to "/-". Nothing if no file has provenance.
void explain_page_provenance(const struct jsondoc *explanation, const char *up, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// The page of a project for people: an explanation (explainer/explain.h) as HTML. All text in it is foreign and is escaped.
// No state: any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "server/pages/html-layout.h"

// Appends the page. out's ceiling limits it.
void explain_page_write(const struct html_frame *frame, const struct jsondoc *explanation, struct buf *out);

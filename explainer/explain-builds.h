// SPDX-License-Identifier: Apache-2.0
// When wheels of a project were last tried on the platforms of a view, and why they failed: a part of explain.h. One
// thread at a time per connection.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/results/results.h"
#include "lib/view/view.h"

// The newest attempt that ended, for each platform, Python and version, the newest first. The caller frees the document:
//	[{"platform", "python", "version", "result", "step", "why", "begun": time, "id",
//	  "running": bool (another attempt is under way),
//	  "failures"?: of this recipe since the last good attempt, "since"?: when the first of them began}, …]
// version: only those that "==version" admits; NULL: all. Errors of results.h.
struct jsondoc *explain_builds(struct results *r, const struct view *view, const char *project, const char *version,
	struct err *e) MUST_CHECK;
// Appends the document to out as text for a terminal.
void explain_builds_text(const struct jsondoc *builds, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// Why a wheel is or is not to be had: what a view's platforms have of a project, listed or not, what was pruned and
// why, what upstream has, and for each environment what pip takes from here, from upstream, and from both. Reads the
// catalog and nothing else.
#pragma once

#include "lib/base/jsondoc.h"
#include "lib/state/downloads.h"
#include "lib/state/rules.h"
#include "lib/state/upstream.h"
#include "lib/view/view.h"

// A document for machines, to be freed by the caller. project is normalised; version NULL: all of them, and pip is
// asked for any; else what "==version" admits. ERR_INVALID where that is none, ERR_NOT_FOUND where neither the view nor
// upstream has anything of it. downloads: what was counted of them; NULL: that is not told.
//
//	{"project", "version"?, "view"?, "platforms": [name, …],
//	 "here": [{"platform", "filename", "path",
//	     "state": "listed"|"yanked"|"quarantined"|"copy"|"unlisted"|"removed",
//	     "size"?, "sha256"?, "requires-python"?, "reason"?,
//	     "hidden-by"? (the platform whose file of this name the view shows),
//	     "removal"?: {"when"?, "by"?, "verdict"?, "run"?, "upstream"?: {"filename", "url"?, "identical"}},
//	     "downloads"?: {"count", "last"},
//	     "plan"?: {"verdict", "removes", "why"?, "reason", "upstream"?}}, …],
//	 "upstream": {"result", "why"?, "index"?, "asked"?, "fetched"?, "stale"?, "status"?, "files"? (how many),
//	     "file"? (of one version): [{"filename", "url", "yanked"?, "requires-python"?, "upload-time"?, "size"?,
//	         "sha256"?}, …]},
//	 "environments": [{"platform", "python", "here"?, "upstream"?, "both"?: {"filename", "version",
//	     "from": "here"|"upstream", "yanked"?: true, "some-micros"?: true}}, …]}
struct jsondoc *explain(const struct view *v, struct catalog *c, const char *project, const char *version,
	const struct upstream_answer *answer, const struct downloads *downloads, struct err *e) MUST_CHECK;
// Adds whose files count under the name, and why: "names": {"rule": rule_name, "ours": bool (lib/state/ours), "files":
// "here"|"upstream"|"both", "why"}.
void explain_names(struct jsondoc *explanation, const struct view *v, enum rule rule, bool is_ours);
// The same for people.
void explain_text(const struct jsondoc *explanation, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// Why a wheel is or is not to be had: what a view's platforms have of a project, listed or not, what was pruned and
// why, what upstream has, and for each environment what pip takes from here, from upstream, and from both. Reads the
// catalog and nothing else.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/access/downloads.h"
#include "lib/state/upstream/name-rules.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

// What is to be explained, and what is known beside the catalog.
struct explain_about {
	const struct view *view;
	const char *project;               // normalised
	const char *version;               // NULL: all of them, and pip is asked for any; else what "==version" admits
	enum name_rule rule;               // of the name
	bool is_ours;                      // it was here first (lib/state/upstream/owned-names)
	bool is_hidden;                    // only private platforms have it: upstream is not asked for their views
	const struct downloads *downloads; // what was counted of them; NULL: that is not told
};

// A document for machines, to be freed by the caller. answer: what is known, whosever the name is. ERR_INVALID where version
// is none, ERR_NOT_FOUND where neither the view nor upstream has anything of it.
//
//	{"project", "version"?, "view"?, "platforms": [name, …],
//	 "names": {"rule": name_rule_text, "ours": bool, "files" (whose count): "here"|"upstream"|"both", "why",
//	     "taken"? (what upstream has under a name that is ours alone): {"files", "since"? (the oldest), "fetched"}},
//	 "here": [{"platform", "filename", "path",
//	     "state": "listed"|"yanked"|"quarantined"|"copy"|"unlisted"|"removed",
//	     "size"?, "sha256"?, "requires-python"?, "reason"?,
//	     "hidden-by"? (the platform whose file of this name the view shows),
//	     "removal"?: {"when"?, "by"?, "verdict"?, "run"?, "upstream"?: {"filename", "url"?, "identical"}},
//	     "downloads"?: {"count", "last"},
//	     "plan"?: {"verdict", "removes", "why"?, "reason", "upstream"?}}, …],
//	 "upstream": {"result", "why"?, "index"?, "asked"?, "fetched"?, "stale"?, "status"?, "files"? (how many),
//	     "left-out"? (how many of them the view's pages do not have, as none of its machines runs them),
//	     "file"? (of one version): [{"filename", "url", "yanked"?, "requires-python"?, "upload-time"?, "size"?,
//	         "sha256"?, "left-out"?: true, "cut"?: true (a field is beyond its limit, and was left out)}, …]},
//	 "environments": [{"platform", "python", "here"?, "upstream"?, "both"?: {"filename", "version",
//	     "from": "here"|"upstream", "yanked"?: true, "some-micros"?: true}}, …]}
struct jsondoc *explain(const struct explain_about *about, struct catalog *c, const struct upstream_answer *answer,
	struct err *e) MUST_CHECK;
// The same for people.
void explain_text(const struct jsondoc *explanation, struct buf *out);

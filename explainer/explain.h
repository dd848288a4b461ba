// SPDX-License-Identifier: Apache-2.0
// Explains which files of a project clients can get: the files of a view's platforms, listed or not; what was pruned
// and why; what upstream has; and for each environment what pip takes from here, from upstream, and from both. It reads
// only the catalog and the results of builds. One thread at a time per catalog connection.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/access/downloads.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/results/results.h"
#include "lib/audit/wheel-gate.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

struct rule_list;

// Adds to the row of a listed file what a module above this one knows. f is borrowed for the call.
typedef int explain_file_fn(void *ctx, const struct platform *p, const struct catalog_history *f, struct jsondoc *row,
	struct err *e);

// What the reader of an explanation may know. A function that is NULL, or no reader: all.
struct explain_reader {
	bool (*may_read)(void *ctx, const struct view *v);       // of the view
	bool (*sees_names)(void *ctx, const struct platform *p); // the names of people and tokens there
	void *ctx;
};
bool explain_may_read(const struct explain_reader *r, const struct view *v);
bool explain_sees_names(const struct explain_reader *r, const struct platform *p);

// The request, and what is known apart from the catalog. Borrowed.
struct explain_about {
	const struct view *view; // of one that shows_each, each platform is explained by its own index
	const struct site *site; // explain_find_names() sets it
	const char *project;               // normal form
	const char *version;               // NULL: all versions; else only those that "==version" admits
	struct upstreams *upstreams;       // NULL: none
	enum name_rule rule;               // of the project's name, at all upstreams (name_rules_admit)
	bool is_ours;                      // the name is noted as ours (lib/state/upstream/owned-names) at all of them
	bool is_hidden;                    // only private platforms have the project, so none of them is asked
	struct config_order order;         // of upstreams, for upstream_load_cached_any()
	const char *owner[LIMIT_UPSTREAMS]; // upstream_owner() of each
	const struct rule_list *denied;    // [server] deny; NULL: none
	const struct downloads *downloads; // download counts; NULL: not reported
	struct results *results;           // of builds; NULL: not reported
	struct wheel_gate *gate;           // NULL: wheels are not audited
	const char *audit_path;            // of the audit log, which names uploaders; NULL: they are not named
	const struct explain_reader *reader;
	explain_file_fn *put_file;         // NULL: nothing is added
	void *put_file_ctx;
	const struct jsondoc *lost; // of explainer/explain-membership.h, for all versions; NULL: not reported
};

// Fills in what the rules, the names that are ours and private platforms say of the project at the upstreams of the
// view; where it merges none, of those of the default view. ours NULL: no names. The catalog's errors.
int explain_find_names(const struct site *site, struct catalog *c, struct owned_names *ours, struct explain_about *about,
	struct err *e) MUST_CHECK;
// Returns a document that the caller frees. answer is what is known of upstream's project of this name, even if the
// name is ours. NULL on an error: ERR_INVALID if version is not a version, ERR_NOT_FOUND if neither the view nor
// upstream has any such file, no view has lost one, and none was tried to be built; and the errors of the catalog.
//
//	{"project", "version"?, "view"?, "each"?: true (the view shows_each), "generation"? (of the view's membership),
//	    "platforms": [name, …],
//	 "names": {"rule": name_rule_text, "ours": bool, "files" (that clients get): "here"|"upstream"|"both", "why",
//	     "taken"? (upstream has a project under our name): {"files", "since"? (of the oldest), "fetched"}},
//	 "status"? (of the project here, PEP 792, if it is not active; of a quarantined one clients get nothing):
//	     {"status",
//	     "reason", "when"?, "by"? (if the reader sees names)},
//	 "lost"? (members of views that the store has lost): see explainer/explain-membership.h,
//	 "here": [{"platform", "filename", "path",
//	     "state": "listed"|"yanked"|"quarantined"|"copy"|"unlisted"|"removed",
//	     "size"?, "sha256"?, "requires-python"?, "reason"?,
//	     "hidden-by"? (the platform whose file of this name the view shows),
//	     "only-at"? (the address that has it, because another platform has other bytes of its name, so that the view
//	         has neither),
//	     "not-promoted"?: true (a listed file that the view's membership does not have),
//	     "views"?, "membership"? (of a listed file): see explainer/explain-membership.h,
//	     "denied"? (what the line of [server] deny says that hides a listed file),
//	     "removal"?: {"when"?, "by"? (if the reader sees names), "verdict"?, "run"?, "upstream"?: {"filename",
//	         "url"?, "identical"}},
//	     "uploaded_by"?, "uploaded"? (if the reader sees names),
//	     "downloads"?: {"count", "last"},
//	     "provenance"? (of its statement; with rows if a version was requested): see explain-parts.h,
//	     "attestations"?: true (it has some, PEP 740),
//	     "audit"? (of a listed wheel, if wheels are audited): see explain-parts.h,
//	     "plan"?: {"verdict", "removes", "why"?, "reason", "upstream"?}}, …],
//	 "upstream": {"result", "why"?, "index"?, "asked"?, "fetched"?, "stale"?, "status"?, "files"? (count),
//	     "left-out"? (count of those that the view's pages omit, because none of its machines runs them),
//	     "not-offered"? (count), "hidden"? (of the version, or the first 50; lib/state/upstream/offering.h):
//	         [{"filename",
//	         "upload-time"?, "seen"?, "offered"? (from when on, if nothing else changes),
//	         "rules": [{"rule": offering_rule_name, "says", "source" (offering_source())}, …]}, …],
//	     "file"? (if a version was requested): [{"filename", "url", "yanked"?, "requires-python"?, "upload-time"?,
//	         "size"?, "sha256"?, "upstream"? (its name, if there are several), "left-out"?: true,
//	         "cut"?: true (a field was too long and was omitted)}, …],
//	     "each"? (if there are several; in the order of the view): [{"name", "result", "why"?, "index"?, "asked"?,
//	         "fetched"?, "files"?}, …],
//	     "conflicts"? (names that two of them list with other bytes; the first 20): [{"filename", "counts",
//	         "other"}, …]},
//	 "environments": [{"platform", "python", "here"?, "upstream"?, "both"?, "client"? (from what clients of the view
//	     get): {"filename", "version",
//	     "from": "here"|"upstream", "yanked"?: true, "some-micros"?: true}}, …],
//	 "builds"? (if the results can be read): see explain-parts.h}
struct jsondoc *explain(const struct explain_about *about, struct catalog *c, const struct upstream_answer *answer,
	struct err *e) MUST_CHECK;
// Appends the document to out as text for a terminal.
void explain_text(const struct jsondoc *explanation, struct buf *out);

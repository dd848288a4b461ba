// SPDX-License-Identifier: Apache-2.0
// What `explain` says about memberships: in which views of the configuration a file is; since which generation it is a
// member of the view that is explained, by whom, and on which evidence; or what keeps it out. One thread at a time for
// each catalog connection.
#pragma once

#include "explainer/explain.h"

struct explain_membership;

// Reads the views' files of a project (normal form). All is borrowed. now: seconds since 1970. The caller frees *out.
int explain_membership_new(const struct site *site, const struct view *view, struct catalog *c, const char *project,
	int64_t now, const struct explain_reader *reader, struct explain_membership **out, struct err *e) MUST_CHECK;
void explain_membership_cleanup(struct explain_membership **m); // for CLEANUP

// An explain_file_fn (explainer/explain.h); ctx is the struct explain_membership. Adds to the row of a listed file
//
//	"views"? (that show it): [name, …],
//	"membership"? (in a view with one): {"view", "member": bool,
//	    of a member: "generation", "made"?, "action"?, "by"? (if the reader sees names on all platforms), "reason"?,
//	        "evidence"? (on which the generation stands, about this file; it is left out of the largest
//	            generations):
//	            [{"evidence" (id), "kind", "platform", "python", "received", "by"?, "passed", "failed", "skipped",
//	            "override"?}, …],
//	    of another file, now: "why",
//	        "lacks": [{"kind", "platform", "python", "result" (wheel_test_result_name), "why"?, "evidence"?, "by"?},
//	            …]}
int explain_membership_put(void *ctx, const struct platform *p, const struct catalog_history *f, struct jsondoc *row,
	struct err *e) MUST_CHECK;

// What `explain` says about members of views that the store has lost (promoter/member-losses.h): pip finds no such
// file, and no other page says why. Borrowed.
struct explain_losses {
	const struct site *site;
	struct catalog *catalog;
	const char *project;                 // normal form
	const char *audit_path;              // of the audit log, which knows what a command removed; NULL: it is not read
	const struct explain_reader *reader; // NULL: all may be known
};

// Of all views of the configuration that the reader may read. The caller owns *out, an array:
//
//	[{"view", "platform", "filename", "sha256", "generation" (that added it), "since"? (the time of the removal, or
//	    when a server noticed it), "action"? (of the command that removed it), "by"?, "reason"? (of that, if the
//	    reader sees names on the platform), "why", "advice"}, …]
int explain_losses_read(const struct explain_losses *x, struct jsondoc **out, struct err *e) MUST_CHECK;

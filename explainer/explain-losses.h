// SPDX-License-Identifier: Apache-2.0
// What `explain` says about members of views that the store has lost (promoter/member-losses.h): pip finds no such file,
// and no other page says why. One thread at a time for each catalog connection.
#pragma once

#include "explainer/explain.h"

// Borrowed.
struct explain_losses {
	const struct site *site;
	struct catalog *catalog;
	const char *project;                 // normal form
	const char *audit_path;              // of the audit log, which knows what a command removed; NULL: it is not read
	const struct explain_reader *reader; // NULL: all may be known
};

// Of all views of the configuration that the reader may read. The caller owns *out, an array:
//
//	[{"view", "platform", "filename", "sha256", "generation" (that added it), "since"? (the time of the removal, or when a
//	    server noticed it), "action"? (of the command that removed it), "by"?, "reason"? (of that, if the reader sees names
//	    on the platform), "why", "advice"}, …]
int explain_losses_read(const struct explain_losses *x, struct jsondoc **out, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Promotes files into a view with `from`, and the ways back: demotions and rollbacks, which need no evidence. The
// command line and the server call it. One thread at a time for each catalog connection.
#pragma once

#include "lib/view/view.h"
#include "promoter/promote-answer.h"

// The view of the configuration with this name, borrowed. ERR_NOT_FOUND: there is none; ERR_USAGE: it has no `from`.
const struct config_view *promote_view(const struct config *c, const char *name, struct err *e) MUST_CHECK;

// now: seconds since 1970. A refusal is no error. ERR_USAGE: the view has no `from`, another `from`, or a selection
// that matches nothing; ERR_NOT_FOUND: there is no such view; ERR_INVALID: its membership is damaged; ERR_BUSY: the
// decision took too long; errors of the store. A file that a prune removes at the same moment is refused. Writes a line
// of the audit log for each file that was promoted or refused; a dry run writes nothing, and audit may be NULL. The
// caller releases *out, also on an error.
int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e) MUST_CHECK;
// Takes files out of the view `to`: select chooses among its members, at least one. The rows are those of the files
// that went. Errors, a dry run and *out as above.
int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e) MUST_CHECK;
// Makes a new generation whose members are those of `generation` (0: none). ERR_NOT_FOUND: there is no such generation.
// The rows are those of the files that came back or went; none: nothing was changed. Errors, a dry run and *out
// as above.
int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e) MUST_CHECK;

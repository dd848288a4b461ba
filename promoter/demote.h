// SPDX-License-Identifier: Apache-2.0
// Takes files out of a view with `from`, and goes back to an earlier membership. Neither needs evidence. One thread at a
// time for each catalog connection.
#pragma once

#include "promoter/promote-answer.h"
#include "promoter/promote-request.h"
#include "lib/view/view.h"

// Takes files out of the view `to`: select chooses among its members, at least one. The rows are those of the files that
// went. ERR_USAGE, ERR_NOT_FOUND, ERR_INVALID and a dry run as promote_run(). The caller releases *out, also on an error.
int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e) MUST_CHECK;
// Makes a new generation whose members are those of `generation` (0: none). ERR_NOT_FOUND: there is no such generation.
// The rows are those of the files that came back or went; none: nothing was changed. Errors, a dry run and *out
// as above.
int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e) MUST_CHECK;

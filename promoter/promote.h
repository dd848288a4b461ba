// SPDX-License-Identifier: Apache-2.0
// Promotes files into a view with `from`. The command line and the server call it. One thread at a time for each catalog
// connection. demote.h has the ways back.
#pragma once

#include "promoter/promote-answer.h"
#include "promoter/promote-request.h"
#include "lib/view/view.h"

// now: seconds since 1970. A refusal is no error. ERR_USAGE: the view has no `from`, another `from`, or a selection that
// matches nothing; ERR_NOT_FOUND: there is no such view; ERR_INVALID: its membership is damaged; ERR_BUSY: the
// decision took too long; errors of the store. A
// file that a prune removes at the same moment is refused. Writes a line of the audit log for each file that was
// promoted or refused; a dry run writes nothing, and audit may be NULL. The caller releases *out, also on an error.
int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e) MUST_CHECK;

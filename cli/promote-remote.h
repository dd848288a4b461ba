// SPDX-License-Identifier: Apache-2.0
// A promotion by a server: promote --server. It needs neither the store nor a configuration. One thread at a time.
#pragma once

#include "cli/evidence/record-sender.h"
#include "promoter/promote-answer.h"
#include "promoter/promote-request.h"

// Asks the server of *s to do what r says, of which the sender, `may` and `hooks` are not read. Errors have the kinds, and
// so the exit codes, of promote_run(): ERR_USAGE: the server finds the request wrong; ERR_DENIED: the token; ERR_NET: no
// answer, or none of a promotion. The caller releases *out, also on an error.
int promote_remote(struct record_sender *s, const struct promote_request *r, struct promote_answer *out,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// A yank by a server, or its undoing: yank --server. It needs neither the store nor a configuration. One thread at a time.
#pragma once

#include "cli/evidence/record-sender.h"

struct yank_order {
	const char *word;     // that selects files
	const char *platform; // NULL: all
	const char *reason;   // NULL: none
	bool undo;
};

typedef void yank_remote_fn(void *ctx, const char *platform, const char *filename, bool waits_for_release);
// Asks the server of *s, and calls fn for each file. Errors have the kinds, and so the exit codes, of the local command: ERR_USAGE:
// the server finds the request wrong; ERR_NOT_FOUND: no such file; ERR_DENIED: the token; ERR_NET: no answer, or none of a yank.
int yank_remote(struct record_sender *s, const struct yank_order *order, yank_remote_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Marks one file of a platform for somebody (a yank, its undoing, a removal, a statement of provenance), and writes the
// audit log. Commands and the server use it. One thread at a time for each catalog connection.
#pragma once

#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct marking {
	const char *action; // "yank", for the audit log
	const char *reason; // the same; NULL: none
	const char *who;    // the account, or the token's name
	const char *peer;   // the client's address; NULL: a command
	// ERR_NOT_FOUND: the platform does not have the file; ERR_BUSY: it is frozen.
	int (*mark)(void *ctx, const struct platform *p, struct catalog *c, struct err *e);
	void *ctx;
};

// ERR_BUSY: the platform's volume does not answer within two seconds.
int marking_check_volume(const struct platform *p, struct err *e) MUST_CHECK;
// Of the audit log: "done"; where marked is an error, "refused" of ERR_BUSY, else "failed".
const char *marking_result(int marked, const struct err *e);
// Calls mark, and writes a line, also of a failure; none of a file that is not there. The error is that of mark; only
// where it succeeds, that of the audit log.
int marking_file(const struct marking *m, const char *filename, const struct platform *p, struct catalog *c,
	struct audit *audit, struct err *e) MUST_CHECK;

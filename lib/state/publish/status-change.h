// SPDX-License-Identifier: Apache-2.0
// Sets the status of a project (PEP 792; project-status.h) on all platforms, for somebody who may know only of some of
// them, and writes the audit log. What the sender may not know of is as if it were not there. Commands and the server
// use it. One thread at a time for each catalog connection.
#pragma once

#include "lib/domain/index/simplepage.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct status_change {
	const char *project; // normal form
	enum simplepage_status status;
	const char *reason;  // NULL or "": none, only of ACTIVE
	const char *who, *peer; // for the audit log; peer NULL: a command
	// Whether the sender may know of the project on the platform, and may set its status there. NULL: of all.
	bool (*sees)(void *ctx, const struct platform *p, const char *project);
	bool (*may)(void *ctx, const struct platform *p, const char *project);
	void *ctx;
};

// A status by its name, such as "archived". ERR_USAGE: there is none, with those that there are.
int status_change_name(const char *word, enum simplepage_status *out, struct err *e) MUST_CHECK;
// Whether the reason is there, and not too long: the first two errors of the next.
int status_change_check(const struct status_change *r, struct err *e) MUST_CHECK;
// Calls done for each platform behind the change; an error of it counts as one of the platform. A frozen platform, or
// one that does not answer, is left out if it never had the project. ERR_USAGE: no reason; ERR_LIMIT: it is too long;
// ERR_NOT_FOUND: no platform has, or had, the project; ERR_DENIED: one has it where the sender may not; in these cases
// nothing is done. ERR_BUSY and others: of the last platform that failed; the others are done.
typedef int status_change_fn(void *ctx, const struct platform *p, struct err *e);
int status_change_make(const struct status_change *r, const struct store *s, struct catalog *c, struct audit *audit,
	status_change_fn *done, void *ctx, struct err *e) MUST_CHECK;

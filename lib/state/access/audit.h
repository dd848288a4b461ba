// SPDX-License-Identifier: Apache-2.0
// The audit log: who changed what, or tried to, as a JSON object a line. It only grows. A line is one
// write, so any number of processes may write; and it is opened for each change, so that it may be
// moved away at any time.
#pragma once

#include "lib/base/err.h"
#include "lib/state/config/config.h"

struct audit;

// Where it is: as configured, or beside the catalog. To be freed by the caller.
char *audit_path(const struct config *c, const char *catalog_path);
// Before the change: what cannot be written down is not done. Made (0640) where it is missing.
int audit_open(const char *path, struct audit **out, struct err *e) MUST_CHECK;
void audit_close(struct audit *a);    // NULL is fine
void audit_cleanup(struct audit **a); // for CLEANUP

// What is NULL is left out. Strings may hold any bytes.
struct audit_entry {
	const char *who;    // a token's name, or the account that ran a command
	const char *peer;   // where a request came from
	const char *action; // "upload", "yank", "freeze", …
	const char *platform;
	const char *project;
	const char *file;
	const char *sha256; // hexadecimal
	const char *result; // "done", "refused", "failed", …
	const char *reason;
};
// Adds the time in front. May be called again, for one change after the other; from one thread.
int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e) MUST_CHECK;

// Who runs this process, for .who: "user root". To be freed by the caller.
char *audit_account(void);

// SPDX-License-Identifier: Apache-2.0
// The audit log: one JSON object per line for each change that was made or refused. It only grows. Each line is one
// write(2), so any number of processes may write. It is opened for each change, so it may be moved away at any time.
// One thread at a time for a struct audit. Errors are ERR_IO and ERR_FULL.
#pragma once

#include "lib/base/err.h"
#include "lib/state/config/config.h"

struct audit;

// The path of the log: as configured, else beside the catalog. The caller frees it.
char *audit_path(const struct config *c, const char *catalog_path);
// To be called before the change: a change that cannot be logged is not made. Creates a missing file (0640).
int audit_open(const char *path, struct audit **out, struct err *e) MUST_CHECK;
void audit_close(struct audit *a);    // NULL is fine
void audit_cleanup(struct audit **a); // for CLEANUP

// Fields that are NULL are left out. Strings may hold any bytes.
struct audit_entry {
	const char *who;    // a token's name, or the account that ran a command
	const char *peer;   // the address of the client
	const char *action; // "upload", "yank", "freeze", …
	const char *view;
	const char *platform;
	const char *project;
	const char *file;
	const char *sha256; // hexadecimal
	const char *result; // "done", "refused", "failed", …
	const char *reason;
};
// Writes a line, with the time first. May be called any number of times.
int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e) MUST_CHECK;

// The account of this process, for .who: "user root". The caller frees it.
char *audit_account(void);

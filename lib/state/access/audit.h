// SPDX-License-Identifier: Apache-2.0
// The audit log: one JSON object per line for each change that was made or refused. Lines are only added. Each line is
// one write(2), so any number of processes may write. The file may be moved away at any time; a full or old one is
// moved by audit_write() (audit-rotate.h). One thread at a time for a struct audit. Errors are ERR_IO and ERR_FULL.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/config/config.h"

struct audit;
struct audit_refusals;

// Where the log is, and what it keeps.
struct audit_place {
	char *path;                      // owned
	uint64_t max_size;               // bytes
	uint64_t keep;                   // seconds; 0: always
	struct audit_refusals *refusals; // borrowed: limits the lines of clients that are refused; NULL: all are written
};

// The path of the log: as configured, else beside the catalog. The caller frees it.
char *audit_path(const struct config *c, const char *catalog_path);
// As configured, without refusals.
void audit_place_init(struct audit_place *p, const struct config *c, const char *catalog_path);
void audit_place_release(struct audit_place *p);
// To be called before the change: a change that cannot be logged is not made. Creates a missing file (0640).
int audit_open(const struct audit_place *place, struct audit **out, struct err *e) MUST_CHECK;
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
// Writes a line, with the time first. May be called any number of times. No line is written, which is success, if
// nothing changed and the client has its lines (audit-refusals.h).
int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e) MUST_CHECK;

// Adds the line of an entry, with its end.
void audit_entry_json(const struct audit_entry *entry, const char *time, struct buf *out);

// The account of this process, for .who: "user root". The caller frees it.
char *audit_account(void);

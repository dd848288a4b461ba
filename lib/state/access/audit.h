// SPDX-License-Identifier: Apache-2.0
// The audit log: one JSON object per line for each change that was made or refused. Lines are only added. Each line is
// one write(2), so any number of processes may write. The file may be moved away at any time; a full or old one is
// moved by audit_write(). One thread at a time for a struct audit. Errors are ERR_IO and ERR_FULL.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
// nothing changed and the client has its lines.
int audit_write(struct audit *a, const struct audit_entry *entry, struct err *e) MUST_CHECK;

// Adds the line of an entry, with its end.
void audit_entry_json(const struct audit_entry *entry, const char *time, struct buf *out);

// The account of this process, for .who: "user root". The caller frees it.
char *audit_account(void);

// --- its files ---
// The files of the audit log: PATH has the newest lines, PATH.1 older ones, PATH.2 older ones yet. A file is moved on
// when it is full, or when its first line is older than a tenth of the time that lines are kept (a day at least). Moved
// files are deleted when their last line is older than that time. Any thread.

// Opens PATH for 0, or PATH.NUMBER. Errors are those of safefile_open().
int audit_open_moved(const char *path, unsigned number, struct err *e) MUST_CHECK;

// --- what nothing changed ---
// Limits the lines of the audit log about what clients wanted and nothing changed: of each token, and of each address
// without a known token, LIMIT_AUDIT_REFUSED lines in a window; the further ones are counted, and the count is reported
// at its end. Memory is constant: while LIMIT_AUDIT_REFUSERS tokens (or addresses) have a window, all others share one.
// All addresses of an IPv6 /64 count as one. Any thread.

struct audit_refusals;

// What has no line. All strings are borrowed for the call.
struct audit_unwritten {
	const char *who;    // the token's name; NULL: the client has none that is known, or these are of several clients
	const char *peer;   // the address of the last one; NULL: of several clients
	const char *action; // the last one
	uint64_t lines;     // above 0
};
// Called by a thread of the object and by audit_refusals_free(), without a lock.
typedef void audit_unwritten_fn(void *ctx, const struct audit_unwritten *what);

// The caller frees the result. ctx is borrowed until then. window_ms: 60000, or less in tests.
struct audit_refusals *audit_refusals_new(int64_t window_ms, audit_unwritten_fn *report, void *ctx);
void audit_refusals_free(struct audit_refusals *r); // reports what has no line yet; NULL is fine

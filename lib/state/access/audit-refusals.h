// SPDX-License-Identifier: Apache-2.0
// Limits the lines of the audit log about what clients wanted and nothing changed: of each token, and of each address
// without a known token, LIMIT_AUDIT_REFUSED lines in a window; the further ones are counted, and the count is reported
// at its end. Memory is constant: while LIMIT_AUDIT_REFUSERS tokens (or addresses) have a window, all others share one.
// All addresses of an IPv6 /64 count as one. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
// Whether a line may be written. who, peer: NULL if unknown.
bool audit_refusals_take(struct audit_refusals *r, const char *who, const char *peer, const char *action);
void audit_refusals_free(struct audit_refusals *r); // reports what has no line yet; NULL is fine

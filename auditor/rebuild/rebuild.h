// SPDX-License-Identifier: Apache-2.0
// Whether a wheel still works with what a platform offers, or is to be rebuilt. Judged by the facts of the wheel and of
// the offer alone, as the dynamic loader decides (ld.so(8)). Libraries that the wheel brings, or that it looks for in
// another package, are not judged; nor are symbols of Python's C API, which the interpreter has. Pure functions; any
// thread.
#pragma once

#include "lib/audit/audit-rules.h"
#include "lib/audit/platform-offer.h"
#include "lib/facts/wheel-facts.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"

// The last one that holds is the state of a wheel.
enum rebuild_state {
	REBUILD_FITS,
	REBUILD_UNKNOWN, // the facts do not tell: never a reason to rebuild
	REBUILD_SYMBOL,  // a library no longer has a symbol that the wheel needs
	REBUILD_VERSION, // a library no longer has a version that the wheel needs
	REBUILD_SONAME,  // a library is no longer there
	REBUILD_STATE_COUNT,
};
extern const char *const rebuild_state_name[REBUILD_STATE_COUNT]; // "fits", "unknown", "symbol-gone", …
static inline bool rebuild_is_wanted(enum rebuild_state s)
{
	return s > REBUILD_UNKNOWN;
}

// Strings are the verdict's.
struct rebuild_reason {
	enum rebuild_state state;
	const char *member;  // in which it was found first; NULL: the whole wheel
	const char *library; // NULL: none; of a symbol: one of several
	const char *detail;  // the version, or the symbol with its version; of UNKNOWN: why
	const char *instead; // the SONAME that replaces the library; NULL: none
};

struct rebuild_verdict {
	enum rebuild_state state;
	struct rebuild_reason reason[32]; // the first LIMIT_REBUILD_REASONS, each once
	size_t reasons;
	struct arena text;
};

// name: of the wheel. facts NULL: they are unknown, and why says why. rules: those that allow a library, which may then
// be absent; NULL: none. The caller releases *out.
void rebuild_judge(const struct wheel_facts *facts, const struct filename *name, const char *why,
	const struct platform_offer *offer, struct audit_rules *rules, struct rebuild_verdict *out);
void rebuild_verdict_release(struct rebuild_verdict *v); // for CLEANUP
// The worst reason in words: "libre2.so.9 is gone; libre2.so.11 is there". Names may hold any bytes. "": it fits.
void rebuild_verdict_print(const struct rebuild_verdict *v, struct buf *out);

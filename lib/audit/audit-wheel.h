// SPDX-License-Identifier: Apache-2.0
// Judges a wheel by its facts: whether its libraries keep what its name promises (PEP 600, 656), and the rules of a
// policy. Pure functions: nothing of the machine that runs us decides. Any thread.
#pragma once

#include "lib/audit/audit-code.h"
#include "lib/audit/audit-policy.h"
#include "lib/audit/platform-offer.h"
#include "lib/audit/wheel-facts.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

struct audit_finding {
	enum audit_code code;
	enum audit_level level;
	const char *member; // NULL: of the whole wheel
	const char *rule;   // NULL: built in
	const char *why;    // what it breaks: a sentence
};

struct audit_report {
	struct audit_finding *finding; // errors first, at most LIMIT_AUDIT_FINDINGS
	size_t count;
	unsigned errors, warnings; // of all, also of those that are not listed
	char tag[64];              // the lowest platform tag that the wheel keeps; "any"; "linux_…": none
	struct arena text;
};

struct audit_options {
	const struct audit_policy *policy;  // NULL: none
	const char *platform;               // its name, for rules; NULL: unknown
	const struct platform_offer *offer; // of that platform; NULL: unknown
};

// The caller releases *out.
void audit_wheel(const struct wheel_facts *facts, const struct filename *name, const struct audit_options *options,
	struct audit_report *out);
void audit_report_release(struct audit_report *r);
// {"filename", "tag", "errors", "warnings", "findings": [{"code", "level", "member", "rule", "why"}]}. The caller frees it.
struct jsondoc *audit_report_json(const struct audit_report *r, const char *filename);

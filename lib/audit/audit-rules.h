// SPDX-License-Identifier: Apache-2.0
// Judges one wheel by the rules of a policy. The names in a wheel are hostile: the time for all rules of a wheel is
// bounded (LIMIT_AUDIT_RULES_MS), and what cannot be judged within it is a finding. One thread at a time.
#pragma once

#include "lib/audit/audit-policy.h"
#include "lib/facts/wheel-facts.h"

struct audit_rules;

// All is borrowed until audit_rules_cleanup. policy NULL: no rules. project: the normalised name. platform: its name;
// NULL: unknown, and the rules for some platforms do not apply.
struct audit_rules *audit_rules_new(const struct audit_policy *policy, const char *project, const char *platform);
void audit_rules_cleanup(struct audit_rules **r); // for CLEANUP
// Whether the member may need this library of the system: "allow = library".
bool audit_rules_allow(struct audit_rules *r, const char *member, const char *library);
// The level of a built-in finding about a member; NULL: about the whole wheel. The last rule for it decides.
enum audit_level audit_rules_level(struct audit_rules *r, enum audit_code code, const char *member);

// A finding; level is never AUDIT_OFF. rule and member may be NULL; why is a sentence without control characters. All
// strings are borrowed for the call.
typedef void audit_rules_fn(void *ctx, enum audit_code code, enum audit_level level, const char *rule,
	const char *member, const char *why);
// Calls fn once for each condition of a rule that the wheel breaks, in the order of the policy. To be called last: it
// also reports that the time was over.
void audit_rules_apply(struct audit_rules *r, const struct wheel_facts *facts, audit_rules_fn *fn, void *ctx);

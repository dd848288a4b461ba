// SPDX-License-Identifier: Apache-2.0
// Judges a wheel by its facts: whether its libraries keep what its name promises (PEP 600, 656), and the rules of a
// policy. Pure functions: nothing of the machine that runs us decides. Any thread.
#pragma once

#include "lib/audit/audit-policy.h"
#include "lib/audit/audit-report.h"
#include "lib/audit/platform-offer.h"
#include "lib/facts/wheel-facts.h"

struct audit_options {
	const struct audit_policy *policy;  // NULL: none
	const char *platform;               // its name, for rules; NULL: unknown
	const struct platform_offer *offer; // of that platform; NULL: unknown
};

// The caller releases *out. It does not need the facts any more.
void audit_wheel(const struct wheel_facts *facts, const struct filename *name, const struct audit_options *options,
	struct audit_report *out);

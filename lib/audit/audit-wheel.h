// SPDX-License-Identifier: Apache-2.0
// Judges a wheel by its facts: whether its libraries keep what its name promises (PEP 600, 656), and the rules of a
// policy. Pure functions: nothing of the machine that runs us decides. Any thread.
#pragma once

#include "lib/audit/audit-policy.h"
#include "lib/audit/platform-offer.h"
#include "lib/audit/wheel-facts.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

enum audit_code {
	AUDIT_TAG_TOO_LOW,     // a symbol version that the tag in the name does not promise
	AUDIT_MISSING_LIBRARY, // needed, but neither bundled, allowed by tag or policy, found by RPATH, nor offered
	AUDIT_UNHASHED_NAME,   // the plain name is needed while the hashed copy is bundled
	AUDIT_WRONG_MACHINE,
	AUDIT_NATIVE_IN_PURE, // an ELF file in a wheel for any platform, or in its purelib
	AUDIT_ABI3,           // a symbol outside the stable ABI of the Python in the tag
	AUDIT_LIBPYTHON,      // libpython is needed
	AUDIT_ABSOLUTE_RPATH, // absolute, or outside of the wheel
	AUDIT_DAMAGED,        // an ELF file that cannot be read
	AUDIT_RULE_REQUIRED,  // a rule's required member or library is absent
	AUDIT_RULE_FORBIDDEN, // a rule's forbidden one is there
	AUDIT_RULE_NAME,      // a name does not match a rule's pattern
	// Warnings by default:
	AUDIT_EXECUTABLE_STACK,
	AUDIT_TEXTREL,
	AUDIT_RPATH,       // without $ORIGIN, or into another package
	AUDIT_TWIN_SONAME, // two members with one SONAME
	AUDIT_TWIN_BYTES,  // two ELF members with the same bytes
	AUDIT_JUNK,        // .pyc, tests at top level, names that differ by case only
	AUDIT_WRITABLE,
	AUDIT_SBOM, // an SBOM that cannot be read
	AUDIT_CODE_COUNT,
};
extern const char *const audit_code_name[AUDIT_CODE_COUNT]; // "tag-too-low", …

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

// SPDX-License-Identifier: Apache-2.0
// The operator's rules for what is inside wheels: an INI file of [rule NAME] sections, which etc/audit.policy explains.
// This module reads the file; audit-rules judges by it. Any thread may read a policy.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/audit/audit-report.h"
#include "lib/base/arena.h"
#include "lib/base/err.h"

// Patterns of an audit policy, and their use on the names in one wheel. A pattern is a glob (fnmatch, in which "*"
// takes "/" too), or a POSIX extended regular expression after "re:" that matches the whole text.
//
// The names are hostile. fnmatch of glibc takes a time of pattern × name. regexec keeps each state of its automaton, so
// some names cost 100 µs and 4 KB a byte. Therefore a matcher starts a regular expression anew after 16 KB of names,
// and stops after LIMIT_AUDIT_RULES_MS of its thread's time. Back references, whose time is exponential, are no
// pattern.

struct audit_pattern {
	const char *text; // as written; of the policy
	size_t id;        // its number in the policy
};

// ERR_USAGE: it is empty, too long, no regular expression, has a back reference, or is too large when its repetitions
// are written out.
int audit_pattern_check(const char *text, struct err *e) MUST_CHECK;

// One thread at a time, for one wheel.
struct audit_matcher;
struct audit_matcher *audit_matcher_new(size_t patterns); // their number in the policy
void audit_matcher_free(struct audit_matcher *m);         // NULL is fine
bool audit_matcher_matches(struct audit_matcher *m, const struct audit_pattern *p, const char *text);
// Whether the time is over, or a name was too long: the answers since then were false.
bool audit_matcher_is_spent(const struct audit_matcher *m);

struct audit_patterns {
	struct audit_pattern *item;
	size_t count, room;
};

enum audit_verb { AUDIT_REQUIRE, AUDIT_FORBID, AUDIT_ALLOW };
enum audit_object {
	AUDIT_MEMBER,  // a path in the wheel
	AUDIT_LIBRARY, // the name of a library that an ELF file needs
	AUDIT_BUNDLED, // the SONAME or file name of an ELF file in the wheel, with the hash of auditwheel or without
	AUDIT_OBJECT_COUNT,
};
struct audit_condition {
	enum audit_verb verb;
	enum audit_object object;
	struct audit_pattern pattern;
};

// A rule applies to the wheels whose project and platform match, and looks at the members that match. No patterns: all.
struct audit_rule {
	const char *name;
	int line;               // of its section
	enum audit_level level; // AUDIT_LEVEL_COUNT: the file says none. AUDIT_OFF: conditions do not apply
	struct audit_patterns project, platform, member;
	struct audit_condition *condition;
	size_t conditions, condition_room;
	struct audit_patterns must_match; // "name must match": one of them
	bool code[AUDIT_CODE_COUNT];      // the built-in codes whose level this is
	bool has_code;                    // it has one; then it has no conditions
};

struct audit_policy {
	struct audit_rule *rule; // in the order of the file
	size_t count, room;
	size_t patterns; // of all rules
	struct arena text;
};

// path NULL: a policy without rules. ERR_USAGE with "path:line: ": an unknown section or key, an invalid pattern, two
// rules with one name, a rule that says nothing, more than a limit allows. ERR_NOT_FOUND, ERR_IO: the file. The caller
// releases *out, which is empty after an error.
int audit_policy_read(struct audit_policy *out, const char *path, struct err *e) MUST_CHECK;
void audit_policy_release(struct audit_policy *p); // for CLEANUP; leaves it empty

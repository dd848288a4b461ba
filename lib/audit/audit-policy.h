// SPDX-License-Identifier: Apache-2.0
// The operator's rules for what is inside wheels: an INI file of [rule NAME] sections (etc/audit.policy explains them).
// A pattern is a glob (fnmatch), or a POSIX extended regular expression after "re:" that matches the whole text. Any
// thread may read a policy.
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

struct audit_pattern {
	const char *text; // as written, for messages
	bool is_regex;
	regex_t regex;
};
bool audit_pattern_matches(const struct audit_pattern *p, const char *text);

enum audit_level { AUDIT_OFF, AUDIT_WARN, AUDIT_ERROR, AUDIT_LEVEL_COUNT };
extern const char *const audit_level_name[AUDIT_LEVEL_COUNT]; // "off", "warn", "error"

enum audit_action {
	AUDIT_REQUIRE, // at least one member (or library) matches
	AUDIT_FORBID,  // none matches
	AUDIT_ALLOW,   // what matches is no finding of this code
	AUDIT_MATCH,   // "name must match": each that matches `member` or `library` must match `name`
};

struct audit_rule {
	const char *name;
	enum audit_action action;
	enum audit_level level;
	struct audit_pattern *project, *platform; // NULL: all
	struct audit_pattern *member, *library;   // a path in the wheel; a SONAME or the name of a needed library
	struct audit_pattern *must_match;         // of AUDIT_MATCH: the base name
	const char *code;                         // of AUDIT_ALLOW, or of a level for a built-in code; NULL: any
};

struct audit_policy {
	struct audit_rule *rule; // in the order of the file
	size_t count;
	struct arena *text;
};

// path NULL: the built-in policy without rules. ERR_USAGE with "path:line: ". The caller releases *out.
int audit_policy_read(struct audit_policy *out, const char *path, struct err *e) MUST_CHECK;
void audit_policy_release(struct audit_policy *p);

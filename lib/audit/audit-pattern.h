// SPDX-License-Identifier: Apache-2.0
// Patterns of an audit policy, and their use on the names in one wheel. A pattern is a glob (fnmatch, in which "*" takes
// "/" too), or a POSIX extended regular expression after "re:" that matches the whole text.
//
// The names are hostile. fnmatch of glibc takes a time of pattern × name. regexec keeps each state of its automaton, so
// some names cost 100 µs and 4 KB a byte. Therefore a matcher starts a regular expression anew after 16 KB of names, and
// stops after LIMIT_AUDIT_RULES_MS of its thread's time. Back references, whose time is exponential, are no pattern.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

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

// SPDX-License-Identifier: Apache-2.0
// What an audit found in a wheel. One thread at a time for each report.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/audit/audit-code.h"
#include "lib/base/arena.h"
#include "lib/base/mem.h"
#include "lib/format/jsondoc.h"

enum { AUDIT_TAG_SIZE = 256 };

struct audit_finding {
	enum audit_code code;
	enum audit_level level;
	const char *member; // NULL: of the whole wheel
	const char *rule;   // NULL: built in
	const char *why;    // what it breaks: a sentence without control characters
};

// All zero is an empty report.
struct audit_report {
	struct audit_finding *finding; // errors first, then by code, member and sentence; at most LIMIT_AUDIT_FINDINGS
	size_t count, room;
	bool is_incomplete;        // the wheel was not judged as a whole, and no rule accepts that
	unsigned errors, warnings; // of all, also of those that are not listed
	char tag[AUDIT_TAG_SIZE]; // the lowest platform tags that the wheel keeps, with "." between; "any"; "": unknown
	char symbol_tag[AUDIT_TAG_SIZE]; // the same by symbol versions alone, whatever libraries it needs
	struct arena text;
};

// Adds a finding, unless its level is AUDIT_OFF. The report copies all text; member and rule may be NULL.
void audit_report_add(struct audit_report *r, struct audit_finding finding);
// Sorts the findings, after the last one.
void audit_report_finish(struct audit_report *r);
void audit_report_release(struct audit_report *r); // for CLEANUP; leaves it empty
// {"code", "level", "member", "rule", "why"}. The caller frees it.
struct jsondoc *audit_finding_json(const struct audit_finding *f);
// {"filename", "tag", "symbol_tag", "errors", "warnings", "findings": [{"code", "level", "member", "rule", "why"}]}. The
// caller frees it.
struct jsondoc *audit_report_json(const struct audit_report *r, const char *filename);

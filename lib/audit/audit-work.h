// SPDX-License-Identifier: Apache-2.0
// What the checks of one audit work with, and how they say what they find. One thread at a time.
#pragma once

#include "lib/audit/audit-layout.h"
#include "lib/audit/audit-promise.h"
#include "lib/audit/audit-report.h"
#include "lib/audit/audit-rules.h"
#include "lib/audit/platform-offer.h"

struct audit_work {
	const struct wheel_facts *facts;
	const struct filename *name;
	const struct platform_offer *offer; // NULL: unknown
	struct audit_rules *rules;
	struct promise promise;
	struct layout layout;
	struct audit_links links;
	struct audit_report *report;
};

// Adds a finding, with the level that the rules give it. member NULL: the whole wheel.
void audit_find(struct audit_work *w, enum audit_code code, const char *member, const char *why, ...) PRINTF_LIKE(4, 5);
// Appends a name to a list of names in a sentence: at most 3, then "and 5 more". n: its number, from 0.
void audit_list_name(struct buf *list, size_t n, const char *name);
void audit_list_end(struct buf *list, size_t count);

// The checks that are files of their own; the others are in audit-wheel.c.
void audit_check_tag(struct audit_work *w);       // symbol versions; it also sets the tags of the report
void audit_check_libraries(struct audit_work *w); // needed libraries

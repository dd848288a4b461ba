// SPDX-License-Identifier: Apache-2.0
// What the audit finds in the wheels of an explanation, by the facts in the catalog. The number of wheels, the findings of
// each and the time are bounded. One thread at a time.
#pragma once

#include "lib/domain/text/filename.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/audit/wheel-gate.h"

struct explain_audit {
	struct wheel_gate *gate; // borrowed; NULL: nothing is judged
	struct catalog *catalog; // borrowed
	size_t judged;
	int64_t end_ms; // 0: not begun
};

// Judges a listed wheel, and puts "audit" into its row. Nothing happens if the file is no wheel, or there is no gate.
//
//	{"tag": the lowest platform tag that it keeps, or null; "errors", "warnings": numbers;
//	 "findings": [{"code", "level", "member", "rule", "why"}, …], the first LIMIT_EXPLAIN_FINDINGS}
//	{"unknown": why it could not be judged}
void explain_audit(struct explain_audit *a, const char *platform, const char *filename, const uint8_t *sha256,
	struct jsondoc *row);
// Appends it to out as text, each line behind the indent.
void explain_audit_text(const struct jsondoc *audit, const char *indent, struct buf *out);

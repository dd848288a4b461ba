// SPDX-License-Identifier: Apache-2.0
// Judges wheels as the configuration says: [upload] audit and audit-policy, [platform] provides. For uploads, builds
// and what people are shown. Any thread.
#pragma once

#include <stdbool.h>

#include "lib/audit/audit-wheel.h"
#include "lib/state/config/config.h"

struct wheel_gate;

// *out is NULL with "audit = off". Reads the policy; what a platform provides is read when it is first needed, once.
// ERR_USAGE: the policy, with file and line, also if it is missing. Borrows nothing. The caller drops the reference.
int wheel_gate_new(const struct config *c, struct wheel_gate **out, struct err *e) MUST_CHECK;
struct wheel_gate *wheel_gate_ref(struct wheel_gate *g); // one more reference; NULL is fine
void wheel_gate_unref(struct wheel_gate *g);             // the last one frees it; NULL is fine
void wheel_gate_cleanup(struct wheel_gate **g);          // for CLEANUP
// Whether wheels with errors are refused. g NULL: no.
bool wheel_gate_refuses(const struct wheel_gate *g);
// platform: its name; NULL: unknown. The caller releases *out.
void wheel_gate_judge(struct wheel_gate *g, const char *platform, const struct filename *name,
	const struct wheel_facts *facts, struct audit_report *out);
// Appends one finding: "error missing-library in a/b.so: …", "warn rule-name of the rule private-ucx in a/b.so: …".
void wheel_gate_print(const struct audit_finding *finding, struct buf *out);
// ERR_INVALID, if the report has errors, or is incomplete: a wheel must not hide behind the limits. The message has the
// first errors, as many as fit.
int wheel_gate_check(const struct audit_report *report, struct err *e) MUST_CHECK;

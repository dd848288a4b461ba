// SPDX-License-Identifier: Apache-2.0
// What "audit" prints for people. Any thread.
#pragma once

#include "lib/audit/audit-report.h"
#include "lib/facts/wheel-facts.h"
#include "lib/base/buf.h"

// Appends a line for the wheel and one for each finding; equal findings of several members are one. platform NULL: none.
void audit_print_report(const struct audit_report *r, const char *filename, const char *platform, struct buf *out);
// Appends the facts, a paragraph for each ELF file.
void audit_print_facts(const struct wheel_facts *f, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// The checks of an audit, which audit-wheel runs one after the other; each is a file. One thread at a time.
#pragma once

#include "lib/audit/audit-work.h"

void audit_check_machines(struct audit_work *w);  // wrong machines, native code in pure wheels, damaged files
void audit_check_tag(struct audit_work *w);       // symbol versions; it also sets the tags of the report
void audit_check_libraries(struct audit_work *w); // needed libraries
void audit_check_paths(struct audit_work *w);     // RPATH and RUNPATH
void audit_check_abi3(struct audit_work *w);      // the stable ABI
void audit_check_marks(struct audit_work *w);     // executable stack, TEXTREL
void audit_check_twins(struct audit_work *w);     // equal SONAMEs, equal bytes
void audit_check_members(struct audit_work *w);   // oddities of members

// SPDX-License-Identifier: Apache-2.0
// "audit --bind": its options and its output. The main thread only.
#pragma once

#include "cli/audit-probe.h"

// Loads the module of --bind, and prints what its symbols bind to. Returns the exit code: 0; 1 if what was expected is not
// so in the run that decides; 2 with *e set. files: the number of arguments, of which it takes none.
int audit_bind_run(struct audit_probe *x, int files, bool is_json, struct err *e);

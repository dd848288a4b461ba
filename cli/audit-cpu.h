// SPDX-License-Identifier: Apache-2.0
// "audit --cpu": its options and its output. The main thread only.
#pragma once

#include "cli/audit-probe.h"

// Imports the modules of the wheel on a processor of the level of --cpu, and prints what became of each. Returns the exit
// code: 0; 1 if there was an illegal instruction; 2 with *e set, also if no module was imported.
int audit_cpu_run(struct audit_probe *x, int files, char **file, bool is_json, struct err *e);

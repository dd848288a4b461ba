// SPDX-License-Identifier: Apache-2.0
// The options of "audit" that run foreign code, --bind and --cpu, and their output. The main thread only.
#pragma once

#include "cli/common/command.h"

struct audit_probe {
	const char *module; // of --bind; NULL: none
	const char *cpu;    // of --cpu; NULL: none
	const char *mode, *python;
	struct session_list preload, expect, needed, variable, skip;
	uint64_t seconds;  // of --timeout; SESSION_UNSET at first
	char *interpreter; // of python: its path; the caller frees it
};

// What an option row --timeout calls; its `at` is the offset of `seconds`. ERR_USAGE.
int audit_probe_take_timeout(void *self, const struct option_row *row, const char *value, struct err *e);
// Whether one of the options was given: the command then runs --bind or --cpu, in place of an audit.
bool audit_probe_is_wanted(const struct audit_probe *x);
// Loads the module of --bind, and prints what its symbols bind to. Returns the exit code: 0; 1 if what was expected is
// not so in the run that decides; 2 with *e set. It takes no arguments.
int audit_bind_run(struct session *s, struct audit_probe *x, struct err *e);
// Imports the modules of the wheel on a processor of the level of --cpu, and prints what became of each. Returns the
// exit code: 0; 1 if there was an illegal instruction; 2 with *e set, also if no module was imported.
int audit_cpu_run(struct session *s, struct audit_probe *x, struct err *e);

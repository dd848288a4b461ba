// SPDX-License-Identifier: Apache-2.0
// The options of "audit" that run foreign code: --bind and --cpu. The main thread only.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/command.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"

// Rows of the command's options.
#define AUDIT_PROBE_ROWS                                                                                               \
	{"bind", '\0', "MODULE", "run MODULE's code, and print which libraries its symbols bind to", NO_KEY},          \
		{"preload", '\0', "LIBRARY", "with --bind: load this before, for all; may be repeated", NO_KEY},       \
		{"expect", '\0', "SYMBOL=LIBRARY", "with --bind: what must bind to what; may be repeated", NO_KEY},    \
		{"needed", '\0', "SONAME", "with --bind: what MODULE must need; may be repeated", NO_KEY},             \
		{"mode", '\0', "MODE", "with --bind: judge by plain, preloaded or deepbind", NO_KEY},                  \
		{"cpu", '\0', "LEVEL", "run the wheel's code: import its modules on x86-64-v1, -v2 or -v3", NO_KEY},   \
		{"skip", '\0', "MODULE", "with --cpu: do not import these; a glob; may be repeated", NO_KEY},          \
		{"python", '\0', "PYTHON", "with --cpu and --bind: in this Python, a version or a path", NO_KEY},      \
		{"env", '\0', "NAME=VALUE", "with --bind and --cpu: set this variable; may be repeated", NO_KEY},      \
	{                                                                                                              \
		"timeout", '\0', "TIME", "with --bind and --cpu: end it after TIME; 60s, 10min", NO_KEY                \
	}

struct audit_probe {        // all zero at first
	const char *module; // of --bind; NULL: none
	const char *cpu;    // of --cpu; NULL: none
	const char *mode, *python, *timeout;
	struct command_words preload, expect, needed, variable, skip;
	char *interpreter; // of python: its path
	uint64_t seconds;
	const atomic_bool *stop;
};

// Takes an option of these rows; the value is borrowed. Returns false if the option has another name.
bool audit_probe_take(struct audit_probe *x, const char *name, const char *value);
// Whether one of them was given: the command then runs --bind or --cpu, in place of an audit.
bool audit_probe_is_wanted(const struct audit_probe *x);
// Checks the options that --bind and --cpu share, and sets interpreter, seconds and stop. The argument `seconds` is the
// default of --timeout. Afterwards the first SIGINT or SIGTERM only sets *stop. ERR_USAGE.
int audit_probe_prepare(struct audit_probe *x, uint64_t seconds, struct err *e) MUST_CHECK;
void audit_probe_release(struct audit_probe *x);

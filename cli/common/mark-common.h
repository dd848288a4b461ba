// SPDX-License-Identifier: Apache-2.0
// What the commands that mark a file share: finding it on the platforms, the audit log, and the
// words.
#pragma once

#include "cli/common/command.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct marker;

// Marks the file on one platform, by lib/state/publish/sidecar-ops.
typedef int marker_fn(
	const struct marker *m, const struct platform *p, struct catalog *c, struct err *e);

struct marker {
	const char *action; // "yank", for the audit log
	const char *done;   // "yanked", for the terminal
	marker_fn *mark;
	bool needs_reason;
	// From the command line, and who runs this.
	const char *file, *reason, *platform; // NULL: not given
	bool deletes, is_quiet;
	const char *who;
};

// Runs such a command: takes its line, "FILE [STORE]", and marks FILE on each platform that has it,
// or on the one that was named. m has the first four.
int marker_run(struct marker *m, const struct command *self, int argc, char **argv, struct err *e);

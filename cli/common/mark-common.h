// SPDX-License-Identifier: Apache-2.0
// What the commands that mark a file share: finding it on the platforms, the audit log, and the
// words.
#pragma once

#include "cli/common/command.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct mark_common;

// Marks the file on one platform, by lib/state/publish/sidecar-ops.
typedef int mark_common_fn(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e);

struct mark_common {
	const char *action; // "yank", for the audit log
	const char *done;   // "yanked", for the terminal
	mark_common_fn *mark;
	bool needs_reason;
	// From the command line, and who runs this.
	const char *file, *reason, *platform; // NULL: not given
	bool deletes, is_quiet;
	const char *who;
};

// Runs such a command: takes its line, "FILE [STORE]", and marks FILE on each platform that has it,
// or on the one that was named. m has the first four.
int mark_common_run(struct mark_common *m, const struct command *self, int argc, char **argv, struct err *e);

// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that mark a file (yank, unyank, remove, provenance add): they find it on the platforms, mark it
// and write the audit log. One thread at a time.
#pragma once

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct mark_common;

// Marks m->file on one platform. ERR_NOT_FOUND: the platform does not have the file; ERR_BUSY: it is frozen.
typedef int mark_common_fn(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e);

struct mark_common {
	const char *action; // "yank", for the audit log
	const char *done;   // "yanked", for the terminal
	mark_common_fn *mark;
	bool needs_reason;
	// Reads the first word, and sets m->file; NULL: it is the name of a file. ERR_USAGE.
	int (*take_file)(struct mark_common *m, const char *word, struct err *e);
	// Before the first file is marked, for each platform that has it: an error means that none is marked. NULL: nothing
	// is in the way.
	int (*check)(const struct mark_common *m, const struct config *config, const struct platform *p,
		struct catalog *c, struct err *e);
	// Takes an option that only this command has. ERR_USAGE. NULL: there is none.
	int (*take_option)(struct mark_common *m, const char *name, const char *value, struct err *e);
	// Instead of the store, after the words: 1: it is done; 0: it is not done elsewhere. NULL: never.
	int (*do_elsewhere)(struct mark_common *m, struct err *e);
	// From here on mark_common_run fills it.
	struct cli_config settings;
	const char *word;                     // FILE as it is given: a name or a path
	const char *file, *reason, *platform; // NULL: not given
	const char *of;
	bool deletes, replaces, forces;
	bool selects; // the word selects files (lib/state/publish/file-select.h)
	const char *who; // the account that runs the command
};

// Marks m->file on the platform, and writes the audit log, also of a failure. ERR_NOT_FOUND: the platform does not have
// it. m: action, done, mark, file, reason and who are set.
int mark_common_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct audit *audit,
	struct err *e) MUST_CHECK;
// Of a file that was marked; behind its name.
extern const char mark_common_waits[];
// Runs the release command of the platform, if it has one, so that clients see the marks.
int mark_common_release(const struct mark_common *m, const struct platform *p, struct catalog *c, struct audit *audit,
	struct err *e) MUST_CHECK;

// Parses "FILE [STORE]" and marks FILE on each platform that has it, or on that of --platform or of its path. The
// caller fills the first six members of m. Returns the exit code.
int mark_common_run(struct mark_common *m, const struct command *self, int argc, char **argv, struct err *e);

// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that change or show a membership: promote, demote, view. They open the store, the catalog and
// the audit log, and print an answer. One thread at a time.
#pragma once

#include "cli/common/cli-config.h"
#include "lib/base/strset.h"
#include "promoter/promote-answer.h"
#include "lib/view/view.h"

struct promotion_common {
	struct cli_config settings;
	struct config config;
	struct site site;
	struct catalog *catalog;
	struct audit *audit; // NULL: nothing is written
	char *by;            // the account that runs the command
};

// Sets all defaults. The caller releases it.
void promotion_common_init(struct promotion_common *p);
void promotion_common_release(struct promotion_common *p); // for CLEANUP
// Opens everything, after the command line was read. writes: the catalog and the audit log are written.
int promotion_common_open(struct promotion_common *p, bool writes, struct err *e) MUST_CHECK;
// ERR_USAGE: no such view is configured, or it has no `from`.
int promotion_common_check_view(const struct promotion_common *p, const char *name, struct err *e) MUST_CHECK;
// The words of a command line for struct promote_request: of a file, its path below the store. In their order; the caller
// releases *out. ERR_USAGE: a path outside of all platforms; ERR_NOT_FOUND: one in no folder; ERR_CONFLICT: the path is
// that of another file than the one that the catalog has of this name.
int promotion_common_words(const struct promotion_common *p, const char *const *word, size_t words, struct strset *out,
	struct err *e) MUST_CHECK;
// Prints the answer: JSON with --json; else a line for each file that was promoted, refused, held, overtaken or ended, for
// some that left before, and their numbers; with --quiet only those that were refused or held. ERR_IO.
int promotion_common_print(const struct promotion_common *p, const struct promote_answer *answer, const char *view,
	struct err *e) MUST_CHECK;
// Writes text to standard output. ERR_IO.
int promotion_common_write(struct str text, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// What the commands of the group "view" share: the name of a view, and generations of it. The main thread only.
#pragma once

#include "cli/common/promotion-common.h"
#include "promoter/generation-files.h"

struct view_command {
	struct promotion_common all;
	const char *name;                            // of the view
	char **word;                                 // what follows it
	const char *to, *at, *steps, *most, *reason; // NULL: not given
};

// Parses the command line, which has VIEW and this number of further words, and opens all. The caller releases *x in any
// case.
int view_command_open(struct view_command *x, const struct command *self, int argc, char **argv, int words, bool writes,
	struct err *e) MUST_CHECK;
void view_command_release(struct view_command *x); // for CLEANUP
int view_command_newest(const struct view_command *x, int64_t *out, struct err *e) MUST_CHECK; // 0: there is none
// The generation of a number, a date (its end) or a time. what names the word in the error.
int view_command_generation(const struct view_command *x, const char *what, const char *text, int64_t *out,
	struct err *e) MUST_CHECK;
// ERR_USAGE: the view has no such generation.
int view_command_check_generation(const struct view_command *x, int64_t generation, struct err *e) MUST_CHECK;
// Appends a line for a file: "  + PLATFORM/FILE (override by BY: REASON)".
void view_command_put_file(const struct generation_file *f, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that change a membership: promote, demote, view rollback. One thread at a time.
#pragma once

#include "cli/common/session.h"
#include "promoter/promote-answer.h"

// ERR_USAGE: no such view is configured, or it has no `from`.
int promotion_common_check_view(const struct session *s, const char *name, struct err *e) MUST_CHECK;
// Prints the answer: JSON with --json; else a line for each file that was promoted, refused, held, overtaken or ended,
// for some that left before, and their numbers; with --quiet only those that were refused or held.
void promotion_common_print(struct session *s, const struct promote_answer *answer, const char *view);

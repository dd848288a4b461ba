// SPDX-License-Identifier: Apache-2.0
// The files of a plan that a person leaves out on its page, and the command that applies the plan without them. The page
// keeps nothing: the choice is in its URL, as numbers of one plan. One thread at a time.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "server/pages/plan-rows.h"

// All zero is none.
struct plan_choice {
	int64_t id[LIMIT_PLAN_CHOSEN]; // numbers of files (struct catalog_planned), each once
	size_t count;
	bool has_more; // than that
};

// text: "12-7,9": digits, with any character between the numbers.
void plan_choice_read(struct plan_choice *x, const char *text);
bool plan_choice_has(const struct plan_choice *x, int64_t id);
// Adds "12-7-9" without the numbers of these rows. rows NULL: all numbers.
void plan_choice_write(const struct plan_choice *x, const struct plan_rows *rows, struct buf *out);

// Adds a word of a shell command, in quotes where it needs them. A control character becomes "?", which --except takes as
// any character.
void plan_choice_shell_word(struct buf *out, const char *word);
// Adds the command, as HTML. chosen: the files that are left out. file: the name of the plan file; NULL: unknown.
void plan_choice_command(struct buf *out, const struct plan_rows *chosen, const char *file);

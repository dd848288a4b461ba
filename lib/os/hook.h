// SPDX-License-Identifier: Apache-2.0
// A command of the operator's, run without a shell: its words stand between blanks, there are no quotes, and "%" with a
// letter is a value that the caller has for it ("%%" is a per cent sign). Thread-safe.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct hook_value {
	char letter;
	const char *text;
};

// Whether it has a word, and no "%" but with these letters.
bool hook_is_valid(const char *command, const char *letters);
// Runs it to its end, in a process group of its own, with nothing to read. ERR_IO where it cannot be run, does not exit
// with 0, or has not ended when clock_ms() passes *end_ms, which others may change meanwhile: then it is asked to end
// (SIGTERM), and killed. What it said last is in the message.
int hook_run(const char *command, const struct hook_value *values, size_t count, const _Atomic int64_t *end_ms,
	struct err *e) MUST_CHECK;

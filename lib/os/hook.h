// SPDX-License-Identifier: Apache-2.0
// Runs a command that the operator configured, without a shell.
// Blanks separate its words, and there are no quotes. "%" and a letter is replaced by the caller's value for that
// letter; "%%" is a per cent sign. Any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct hook_value {
	char letter;
	const char *text; // borrowed
};

// True if the command has a word, and every "%" is followed by one of these letters or "%".
bool hook_is_valid(const char *command, const char *letters);
// Whether the command has "%" and this letter.
bool hook_uses(const char *command, char letter);
// The words of the command with the values in place, NULL at the end. A value is one word or a part of one, whatever is
// in it. hook_free_words frees them.
char **hook_words(const char *command, const struct hook_value *values, size_t count);
void hook_free_words(char ***words); // for CLEANUP; NULL is fine
// Runs the command and waits for its end. It runs in a process group of its own with /dev/null as standard input. Its
// environment is that of this process with the variables ("NAME=value", NULL at the end); NULL: without any.
// ERR_IO if it cannot be started, if it exits with another code than 0, or if it still runs when clock_ms() reaches
// *end_ms; then the group gets SIGTERM, and SIGKILL two seconds later. Another thread may change *end_ms meanwhile. The
// message has the end of the command's output.
int hook_run(const char *command, const struct hook_value *values, size_t count, const char *const *variables,
	const _Atomic int64_t *end_ms, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// Completion of command lines for shells, made of the rows that --help prints. The main thread only.
#pragma once

#include <stdio.h>

#include "cli/common/command.h"

// Prints the script for a shell: "bash", "zsh" or "fish". ERR_USAGE: another shell. ERR_IO.
int completion_print(const struct command *root, const char *shell, FILE *out, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// The environment of the foreign programs of one wheel: the variables that [build] environment lists, and those that
// keep pip and uv to the given index, without configuration and caches of the account. Any thread.
#pragma once

#include "lib/state/config/config.h"

// folder: %d; its home/ and tmp/ are HOME and TMPDIR. A variable that [build] environment lists and our environment has
// goes before ours, except these two. "NAME=value", NULL at the end; hook_free_words frees it.
char **step_environment_make(const struct config *config, const char *folder, const char *index);
// In the folder: the path to which each `pip install` writes what it installs (PIP_REPORT).
#define STEP_ENVIRONMENT_REPORT "report.json"

// SPDX-License-Identifier: Apache-2.0
// Whether this builder has a Python: it is run once, as the steps of a wheel run it, behind [build] wrap. Any thread.
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"

// True only if it is certain that there is none: a Python, or a wrapper, that fails otherwise is for the attempts to report.
// work: the existing work folder, of which the caller has the lock.
bool python_check_is_absent(const struct config *config, const char *work, const char *platform, const char *python);

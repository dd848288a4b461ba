// SPDX-License-Identifier: Apache-2.0
// Which Python this builder has: it is run once, as the steps of a wheel run it, behind [build] wrap. Any thread.
#pragma once

#include "lib/state/config/config.h"

enum { PYTHON_CHECK_ABSENT = -1, PYTHON_CHECK_UNKNOWN = -2 };

// Its patch release: 2 of 3.11.2. ABSENT only if it is certain that there is none: a Python, or a wrapper, that fails
// otherwise is UNKNOWN, for the attempts to report. work: the existing work folder, of which the caller has the lock.
int python_check_micro(const struct config *config, const char *work, const char *platform, const char *python);

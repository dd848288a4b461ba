// SPDX-License-Identifier: Apache-2.0
// Reads what pip's configuration files and variables say, in pip's order. One thread.
#pragma once

#include "cli/doctor/doctor-index.h"

// A file that is no INI file is a row of the report. The caller releases *out.
void pip_settings_read(struct client_settings *out, struct doctor_report *r);

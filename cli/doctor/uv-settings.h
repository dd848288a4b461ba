// SPDX-License-Identifier: Apache-2.0
// Reads what uv's configuration files and variables say of indexes, in uv's order. Of TOML it reads lines "key = value"
// and "[section]", which is how these files are written; what else a file has is ignored. One thread.
#pragma once

#include "cli/doctor/doctor-index.h"

// The caller releases *out.
void uv_settings_read(struct client_settings *out);

// SPDX-License-Identifier: Apache-2.0
// The JSON of /-/builds/ and /-/builds/PROJECT/. Attempts are as in lib/state/results/results-json.h. Pure; any thread.
#pragma once

#include "lib/base/err.h"
#include "server/pages/builds-data.h"

// Adds {"failing": [attempt with "since" and "failures"], "running": n, "days": [{"day", "good", "failed"}], "attempts":
// […], "more": bool} to out, or with only_attempts the last two members alone. ERR_LIMIT if it exceeds out's ceiling.
int builds_json_write(const struct builds_data *data, bool only_attempts, struct buf *out, struct err *e) MUST_CHECK;

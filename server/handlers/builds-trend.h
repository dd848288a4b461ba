// SPDX-License-Identifier: Apache-2.0
// The trend of builds as a picture: an SVG element for an HTML page, without script, with a title and a description for
// readers that see no picture. Good attempts stand above the line and failed ones below it. Pure; any thread.
#pragma once

#include "lib/base/buf.h"
#include "server/handlers/builds-data.h"

// Adds the element to out. count: at least 1.
void builds_trend_write(const struct builds_day *day, size_t count, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// The sections of "/" about what changes, and the same as JSON. What has no data is left out. No state: any thread. out's
// ceiling limits what is added.
#pragma once

#include "lib/format/jsondoc.h"
#include "server/pages/overview-data.h"

void overview_page_write(const struct overview_data *d, struct buf *out);
// Puts the same into an object.
void overview_json_put(const struct overview_data *d, struct jsondoc *object);

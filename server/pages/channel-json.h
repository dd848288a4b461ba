// SPDX-License-Identifier: Apache-2.0
// What the page of a channel shows, as JSON; docs/channels.md has the keys. No state: any thread.
#pragma once

#include "server/pages/channel-data.h"

// Adds the document to out; ERR_LIMIT if it is larger than out's ceiling.
int channel_json_write(const struct channel_data *data, struct buf *out, struct err *e) MUST_CHECK;

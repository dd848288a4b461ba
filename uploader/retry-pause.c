// SPDX-License-Identifier: Apache-2.0
#include "uploader/retry-pause.h"

int64_t retry_pause(unsigned try, uint64_t retry_after)
{
	int64_t ms = RETRY_PAUSE_FIRST_MS;
	while (try-- && ms < RETRY_PAUSE_LONGEST_MS)
		ms *= 2;
	if (retry_after > RETRY_PAUSE_ASKED_MS / 1000)
		return -1;
	int64_t asked = (int64_t)retry_after * 1000;
	return asked > ms ? asked : ms;
}

// SPDX-License-Identifier: Apache-2.0
// Whether a platform has room for a file: its quota, the limit for one file, and the free space of the disk. Pure. Any
// thread.
#pragma once

#include "lib/base/err.h"
#include "lib/state/store/store.h"

enum { QUOTA_WARNING = 90 }; // per cent

struct quota_use {
	uint64_t files, bytes; // on the platform's disk, listed or not
	uint64_t free;         // bytes that the place has left for this account (place_room)
};

// Whether the platform may have one more file of `incoming` bytes. ERR_LIMIT (413): larger than max_file. ERR_FULL
// (507): a quota or the disk has no room for it. The message has the figures.
int quota_check(const struct platform *p, uint64_t max_file, const struct quota_use *use, uint64_t incoming,
	struct err *e) MUST_CHECK;
// The used part of the fuller quota in per cent; 0 without quotas. May exceed 100, up to 999.
unsigned quota_percent(const struct platform *p, const struct quota_use *use);

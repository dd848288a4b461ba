// SPDX-License-Identifier: Apache-2.0
// Whether a platform has room for a file: its quota, the limit of a file, and what the disk has left.
// Pure, but for quota_free.
#pragma once

#include "lib/base/err.h"
#include "lib/state/store/store.h"

enum { QUOTA_WARNING = 90 }; // per cent

struct quota_use {
	uint64_t files, bytes; // that the platform has on its disk, also those that are not listed
	uint64_t free;         // bytes that the disk has left for us; UINT64_MAX: nobody knows
};

// Fills use->free, of the disk that an open folder is on.
void quota_free(int dirfd, struct quota_use *use);
// Whether one more file of so many bytes may come. ERR_LIMIT (413) where it is larger than max_file,
// ERR_FULL (507) where a quota or the disk has no room for it; with the figures.
int quota_check(const struct platform *p, uint64_t max_file, const struct quota_use *use, uint64_t incoming,
	struct err *e) MUST_CHECK;
// How much of the fuller one of both quotas is used, in per cent; 0 where there is none. May pass 100, up to 999.
unsigned quota_percent(const struct platform *p, const struct quota_use *use);

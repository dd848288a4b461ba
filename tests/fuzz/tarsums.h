// SPDX-License-Identifier: Apache-2.0
// Corrects the checksums of a tar, because mutations would hardly ever produce valid ones.
#pragma once

#include <stdio.h>
#include <string.h>

#include "lib/domain/archive/tarstream.h"
#include "tests/fuzz/fuzz.h"

enum { TAR_SUM_AT = 148, TAR_SUM_SIZE = 8, TAR_MAGIC_AT = 257 };

static inline void tarsums_set_one(char *block)
{
	unsigned sum = 0;
	memset(block + TAR_SUM_AT, ' ', TAR_SUM_SIZE);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(block + TAR_SUM_AT, TAR_SUM_SIZE, "%06o", sum);
}

// Returns a corrected copy of the tar, which the caller frees.
static inline char *tarsums_set(struct str tar)
{
	char *copy = xmalloc(tar.len + 1);
	memcpy(copy, tar.ptr, tar.len);
	for (size_t at = 0; at + TAR_BLOCK <= tar.len; at += TAR_BLOCK)
		if (memcmp(copy + at + TAR_MAGIC_AT, "ustar", 5) == 0)
			tarsums_set_one(copy + at);
	return copy;
}

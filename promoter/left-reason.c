// SPDX-License-Identifier: Apache-2.0
#include "promoter/left-reason.h"

#include <inttypes.h>
#include <string.h>

static int put_left(void *ctx, const struct catalog_left *left, struct err *e UNUSED)
{
	if (strcmp(left->action, "promote") != 0) // by that a promotion takes back what was pruned meanwhile
		buf_printf(ctx,
			"it left in generation %" PRId64 " (%s%s%s): promote its version by name to take it again",
			left->generation, left->action, *left->reason ? ": " : "", left->reason);
	return 0;
}

int left_reason(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e)
{
	size_t before = out->len;
	if (catalog_view_left(c, view, platform, filename, sha256, put_left, out, e) < 0)
		return -1;
	return out->len > before;
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-reader.h"

#include <stdlib.h>

#include "lib/facts/wheel-facts.h"

struct wheel_reader *wheel_reader_new(void)
{
	struct wheel_reader *r = xcalloc(1, sizeof(*r));
	r->pack = compress_new();
	return r;
}

void wheel_reader_free(struct wheel_reader *r)
{
	if (!r)
		return;
	zipload_release(&r->load);
	compress_free(r->pack);
	free(r);
}

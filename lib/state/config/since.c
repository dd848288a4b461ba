// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/since.h"

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/config/config-type.h"

int since_read(const char *text, int64_t *out, struct err *e)
{
	uint64_t seconds;
	CLEANUP(mem_free) char *day = xasprintf("%sT00:00:00Z", text);
	if (clock_read(text, out) || clock_read(day, out))
		return 0;
	if (!config_type_seconds.set(&seconds, text) || seconds > config_type_seconds.most)
		return err_set(e, ERR_USAGE,
			"%s is neither a time (as 2026-11-22 or 2026-11-22T20:00:00Z) nor a "
			"duration (as 12h, 7d)",
			text);
	*out = clock_wall_seconds() - (int64_t)seconds;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/pins.h"

#include "lib/base/log.h"
#include "lib/state/catalog/catalog-view.h"

int pins_sync(const struct config *config, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < config->view_count; i++) {
		struct catalog_view v;
		if (!config->views[i].from)
			continue;
		if (catalog_view_find(c, config->views[i].name, &v, e) < 0)
			return -1;
		if (v.is_damaged)
			return err_set(e, ERR_INVALID,
				"the membership of view %s is damaged, so what it pins is not known: nothing is removed",
				config->views[i].name);
	}
	return 0;
}

int pins_find(struct catalog *c, int64_t platform, const char *filename, const uint8_t sha256[SHA256_SIZE], char **view,
	struct err *e)
{
	return catalog_view_pins(c, platform, filename, sha256, view, e);
}

// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/pins.h"

#include "lib/state/catalog/catalog-view.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-sync.h"

int pins_sync(const struct config *config, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < config->view_count; i++) {
		struct views_sync_counts counts = {0};
		const char *view = config->views[i].name;
		CLEANUP(mem_free) char *folder = NULL;
		if (!config->views[i].from)
			continue;
		int whole = views_folder(config, &folder, e);
		if (whole == 0)
			whole = views_sync_view(folder, view, c, NULL, NULL, &counts, e);
		if (whole < 0)
			return -1;
		if (!whole)
			return err_set(e, ERR_INVALID,
				"the membership of view %s is damaged, so what it pins is not known: nothing is removed",
				view);
	}
	return 0;
}

int pins_find(struct catalog *c, int64_t platform, const char *filename, const uint8_t sha256[SHA256_SIZE], char **view,
	struct err *e)
{
	return catalog_view_pins(c, platform, filename, sha256, view, e);
}

int pins_views(const struct config *config, struct catalog *c, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *names, struct err *e)
{
	for (size_t i = 0; i < config->view_count; i++) {
		const char *view = config->views[i].name;
		if (!config->views[i].from)
			continue;
		int has = catalog_view_has(c, view, GENERATION_NEWEST, platform, filename, sha256, e);
		if (has < 0)
			return -1;
		if (has)
			buf_printf(names, "%s%s", names->len ? ", " : "", view);
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "cli/common/promotion-common.h"
#include "lib/base/strset.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-repair.h"
#include "lib/state/views/views-sync.h"

struct view_repair {
	struct promotion_common all;
	struct buf text;
	struct jsondoc *rows; // for --json
	uint64_t found;
};

static void view_repair_release(struct view_repair *x)
{
	promotion_common_release(&x->all);
	buf_release(&x->text);
	jsondoc_cleanup(&x->rows);
}

static void tell_repaired(struct view_repair *x, const char *what, const char *noun, uint64_t count)
{
	struct jsondoc *row = jsondoc_object();
	jsondoc_put_str(row, "name", what);
	jsondoc_put_int(row, noun, (int64_t)count);
	jsondoc_add(x->rows, row);
	if (count)
		buf_printf(&x->text, "%s: %" PRIu64 " %s with a time in the future%s\n", what, count, noun,
			x->all.settings.is_dry_run ? "" : " have another now");
	x->found += count;
}

static int write_repaired(struct view_repair *x, struct err *e)
{
	const struct cli_config *s = &x->all.settings;
	char now[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), now);
	if (s->is_json) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "now", now);
		jsondoc_put_bool(doc, "dry_run", s->is_dry_run);
		jsondoc_put(doc, "repaired", STEAL_PTR(x->rows));
		buf_clear(&x->text);
		jsondoc_write(doc, 2, &x->text);
	} else if (!x->found) {
		buf_printf(&x->text, "nothing has a time in the future; the clock says %s\n", now);
	} else if (s->is_dry_run) {
		buf_printf(&x->text, "the clock says %s (dry run: nothing was changed)\n", now);
	}
	return s->is_quiet && !s->is_json ? 0 : promotion_common_write(buf_view(&x->text), e);
}

static int repair_views(struct view_repair *x, struct err *e)
{
	struct promotion_common *p = &x->all;
	CLEANUP(mem_free) char *folder = NULL;
	CLEANUP(strset_release) struct strset views = {0};
	uint64_t count = 0;
	if (views_folder(&p->config, &folder, e) < 0 || views_find_folders(folder, false, &views, e) < 0)
		return -1;
	strset_sort(&views);
	for (size_t i = 0; i < views.count; i++) {
		if (views_repair_view(folder, p->catalog, views.item[i], p->by, p->settings.is_dry_run, &count, e) < 0)
			return -1;
		tell_repaired(x, views.item[i], "generations", count);
	}
	if (views_repair_evidence(folder, p->catalog, p->settings.is_dry_run, &count, e) < 0)
		return -1;
	tell_repaired(x, "evidence", "records", count);
	return write_repaired(x, e);
}

static int run_view_repair(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(view_repair_release) struct view_repair x = {.rows = jsondoc_array()};
	promotion_common_init(&x.all);
	buf_init(&x.text, SIZE_MAX / 2);
	int first = cli_config_options(&x.all.settings, self, argc, argv, NULL, NULL, e);
	if (first >= 0 && first < argc)
		first = err_set(e, ERR_USAGE, "%s: it repairs all views, and takes no name", argv[first]);
	if (first < 0 || promotion_common_open(&x.all, !x.all.settings.is_dry_run, e) < 0 || repair_views(&x, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_view_repair = {
	.name = "view repair",
	.help = "after a clock was ahead: give what has a time in the future another one",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_view_repair,
};

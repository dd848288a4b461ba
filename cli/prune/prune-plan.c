// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/prune/plan-print.h"
#include "lib/base/log.h"
#include "lib/view/site-check.h"
#include "pruner/plan/plan.h"

struct plan_command {
	struct cli_config settings;
	struct config config;
	struct policy_takes takes;
	struct plan_options plan;
	struct command_words globs; // of --platform
	struct progress progress;
};

static const struct option_row options[] = {
	{"output", 'o', "FILE", "write the plan to FILE, for review and for prune apply", NO_KEY},
	{"pure", '\0', NULL, "remove pure Python wheels where upstream has the sdist", NO_KEY},
	{"off-list", '\0', NULL, "remove files that are on no package list", NO_KEY},
	{"unusable", '\0', NULL, "remove files that their platform cannot install", NO_KEY},
	{"corrupt", '\0', NULL, "remove quarantined files", NO_KEY},
};

static int take_plan_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct plan_command *x = ctx;
	const struct command_flag flags[] = {
		{"pure", &x->takes.pure},
		{"off-list", &x->takes.off_list},
		{"unusable", &x->takes.unusable},
		{"corrupt", &x->takes.corrupt},
		{"name-taken-over", &x->takes.taken_over},
		{"offline", &x->plan.is_offline},
	};
	const struct command_text texts[] = {{"output", &x->plan.path}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return command_take_platforms(&x->globs, name, value, e);
}

static int print_plan(const struct plan_command *x, const struct plan *plan, struct err *e)
{
	if (x->settings.is_json) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, SIZE_MAX / 2);
		planfile_write_head(&plan->head, &out);
		fwrite(out.data, 1, out.len, stdout);
	} else if (!x->settings.is_quiet) {
		plan_print(&plan->head, &x->config, stdout);
		if (x->plan.path)
			printf("\nThe plan is %s. Review it, then: wheelcache prune apply %s\n", x->plan.path,
				x->plan.path);
		else
			puts("\nThe plan is not saved: -o FILE saves it, for review and for prune apply.");
	}
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the table") : 0;
}

static void warn_of_failures(const struct planfile_head *h, const struct config *c)
{
	if (h->failed * 100 > h->projects * c->prune_max_failures)
		log_warn("%" PRIu64 " of %" PRIu64 " look-ups failed, more than max-failures = %" PRIu64
			 "%%: apply refuses this plan",
			h->failed, h->projects, c->prune_max_failures);
}

static int plan_store(struct plan_command *x, const struct store *store, struct catalog *catalog, struct err *e)
{
	CLEANUP(policy_release) struct policy policy = {0};
	CLEANUP(plan_release) struct plan plan = {0};
	if (policy_init(&policy, &x->config, store, &x->takes, e) < 0)
		return -1;
	progress_begin(&x->progress, !x->settings.is_quiet);
	x->plan.glob = x->globs.item;
	x->plan.globs = x->globs.count;
	x->plan.progress = progress_look;
	x->plan.ctx = &x->progress;
	int result = plan_make(&x->config, store, catalog, &policy, &x->plan, &plan, e);
	progress_end(&x->progress);
	if (result < 0 || print_plan(x, &plan, e) < 0)
		return -1;
	warn_of_failures(&plan.head, &x->config);
	return 0;
}

static int open_and_plan(struct plan_command *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open(path, &catalog, e) < 0 || site_check_find(&x->config, &store, catalog, e) < 0)
		return -1;
	return plan_store(x, &store, catalog, e);
}

static void plan_command_release(struct plan_command *x)
{
	config_release(&x->config);
	command_words_release(&x->globs);
}

static int run_plan(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(plan_command_release) struct plan_command x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_plan_option, &x, e) < 0)
		return err_exit_code(e->kind);
	return open_and_plan(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_plan = {
	.name = "prune plan",
	.arguments = "[STORE]",
	.help = "decide which files to remove, and why; changes nothing",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(OFFLINE) | SHARED(NAME_TAKEN_OVER) | SHARED(JSON) |
		  SHARED(QUIET),
	.run = run_plan,
};

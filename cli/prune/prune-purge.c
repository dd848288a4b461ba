// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "pruner/operations/purge.h"

struct purge_command {
	struct prune_common all;
	uint64_t grace;
	bool has_grace;
	struct policy_takes takes;
};

static int take_purge_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct purge_command *x = ctx;
	const struct cli_config_number numbers[] = {{"grace", &config_type_seconds, &x->grace}};
	const struct command_flag flags[] = {{"name-taken-over", &x->takes.taken_over}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	if (strcmp(name, numbers[0].option) != 0)
		return prune_common_take(&x->all, name, value, e);
	x->has_grace = true;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static void report_result(const struct purge_command *x, const struct purge_result *r)
{
	if (x->all.settings.is_quiet)
		return;
	prune_common_sum_up(&x->all);
	if (r->waiting)
		printf("%" PRIu64 " files wait until their grace period is over\n", r->waiting);
	if (r->unknown)
		printf("the files of %" PRIu64 " of %" PRIu64 " projects stay: upstream's files are unknown\n",
			r->unknown, r->projects);
}

static int purge_files(struct purge_command *x, struct err *e)
{
	struct purge_result result;
	CLEANUP(policy_release) struct policy policy = {0};
	if (prune_common_open(&x->all, e) < 0 || policy_init(&policy, &x->all.config, &x->all.store, &x->takes, e) < 0)
		return -1;
	const struct purge_options how = {.glob = x->all.globs.item,
		.globs = x->all.globs.count,
		.grace = x->has_grace ? x->grace : x->all.config.prune_grace,
		.is_dry = x->all.settings.is_dry_run,
		.progress = progress_look,
		.ctx = &x->all.progress};
	int purged = purge(&x->all.operation, &x->all.config, &policy, &how, &result, e);
	progress_end(&x->all.progress);
	report_result(x, &result);
	struct err unreleased = ERR_INIT;
	if (operation_end(&x->all.operation, purged < 0 ? &unreleased : e) < 0 || purged < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

static void purge_command_release(struct purge_command *x)
{
	prune_common_release(&x->all);
}

static int run_purge(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(purge_command_release) struct purge_command x = {.has_grace = false};
	prune_common_init(&x.all, "purged", "would be purged");
	x.all.prints_each = true;
	if (cli_config_take_line(&x.all.settings, self, argc, argv, take_purge_option, &x, e) < 0)
		return err_exit_code(e->kind);
	return purge_files(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_purge = {
	.name = "prune purge",
	.arguments = "[STORE]",
	.help = "delete pruned files whose grace period is over",
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(GRACE) | SHARED(NAME_TAKEN_OVER) | SHARED(DRY_RUN) |
		  SHARED(QUIET),
	.run = run_purge,
};

// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "pruner/operations/purge.h"
#include "pruner/operations/retire.h"

struct retire_command {
	struct prune_common all;
	const char *reason, *platform;
	uint64_t grace;
	bool has_grace;
};

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason, for builders and for clients that request a file", NO_KEY},
};

static int take_retire_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct retire_command *x = ctx;
	const struct cli_config_number numbers[] = {{"grace", &config_type_seconds, &x->grace}};
	const struct command_text texts[] = {{"reason", &x->reason}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	x->has_grace = true;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

// Expects PLATFORM, then at most one STORE.
static int take_retire_words(struct retire_command *x, char **words, struct err *e)
{
	if (!*words)
		return err_set(e, ERR_USAGE, "no PLATFORM is given");
	if (words[1] && words[2])
		return err_set(e, ERR_USAGE, "expected one PLATFORM and at most one STORE, not also %s", words[2]);
	x->platform = words[0];
	if (words[1])
		cli_config_take_store(&x->all.settings, words[1]);
	return 0;
}

// Deletes the files whose grace period is over. The next retire or prune purge deletes the rest.
static int purge_rest(struct retire_command *x, struct err *e)
{
	struct purge_result result;
	const struct purge_options how = {.glob = &x->platform,
		.globs = 1,
		.grace = x->has_grace ? x->grace : x->all.config.prune_grace,
		.is_retired_only = true,
		.is_dry = x->all.settings.is_dry_run};
	x->all.done = "purged";
	x->all.would = "would be purged";
	memset(x->all.operation.count, 0, sizeof(x->all.operation.count));
	memset(x->all.operation.bytes, 0, sizeof(x->all.operation.bytes));
	if (purge(&x->all.operation, &x->all.config, NULL, &how, &result, e) < 0)
		return -1;
	prune_common_sum_up(&x->all);
	if (result.waiting && !x->all.settings.is_quiet)
		printf("%" PRIu64
		       " files wait until their grace period is over: then repeat this, or run wheelcache prune purge\n",
			result.waiting);
	return 0;
}

static int retire_platform(struct retire_command *x, struct err *e)
{
	const struct retire_options how = {.reason = x->reason, .is_dry = x->all.settings.is_dry_run};
	if (prune_common_open(&x->all, e) < 0)
		return -1;
	const struct platform *p = store_platform_named(&x->all.store, str_from(x->platform));
	if (!p)
		return store_refuse_platform(&x->all.store, x->platform, ERR_USAGE, e);
	int retired = retire(&x->all.operation, &x->all.config, p, &how, e);
	prune_common_sum_up(&x->all);
	if (retired == 0)
		retired = purge_rest(x, e);
	struct err unreleased = ERR_INIT;
	if (operation_end(&x->all.operation, retired < 0 ? &unreleased : e) < 0 || retired < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

static void retire_command_release(struct retire_command *x)
{
	prune_common_release(&x->all);
}

static int run_retire(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(retire_command_release) struct retire_command x = {.reason = ""};
	prune_common_init(&x.all, "unlisted", "would be unlisted");
	int first = cli_config_options(&x.all.settings, self, argc, argv, take_retire_option, &x, e);
	if (first < 0 || take_retire_words(&x, argv + first, e) < 0)
		return err_exit_code(e->kind);
	return retire_platform(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

static const struct command command_platform_retire = {
	.name = "platform retire",
	.arguments = "PLATFORM [STORE]",
	.help = "unlist and then delete all files of a platform",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(GRACE) | SHARED(DRY_RUN) | SHARED(QUIET),
	.run = run_retire,
};

static const struct command *const rows[] = {
	&command_platform_retire,
	NULL,
};

const struct command command_platform = {
	.name = "platform",
	.help = "manage whole platforms: retire",
	.rows = rows,
	.run = command_run_row,
};

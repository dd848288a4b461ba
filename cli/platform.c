// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "pruner/operations/purge.h"
#include "pruner/operations/retire.h"

struct ending {
	struct prune_common all;
	const char *reason, *platform;
	uint64_t grace;
	bool has_grace;
};

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "why; builders and whoever asks for a file are told"},
	{"grace", '\0', "TIME", "delete only what was unlisted so long ago (as 7d)"},
	{"dry-run", 'n', NULL, "change nothing, tell what would be"},
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"quiet", 'q', NULL, "do not tell what was done"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct ending *x = ctx;
	const struct cli_config_number numbers[] = {{"grace", &config_type_seconds, &x->grace}};
	if (strcmp(name, "reason") == 0)
		x->reason = value;
	else if (strcmp(name, "grace") != 0)
		return prune_common_take(&x->all, name, value, e);
	else if (cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e) < 0)
		return -1;
	x->has_grace |= strcmp(name, "grace") == 0;
	return 0;
}

// PLATFORM, then one STORE at most.
static int take_words(struct ending *x, char **words, struct err *e)
{
	if (!*words)
		return err_set(e, ERR_USAGE, "no PLATFORM is given");
	if (words[1] && words[2])
		return err_set(e, ERR_USAGE, "one PLATFORM and one STORE, not also %s", words[2]);
	x->platform = words[0];
	if (words[1])
		cli_config_take_store(&x->all.settings, words[1]);
	return 0;
}

// What was unlisted long ago goes; the rest when this is done again, or by prune purge.
static int purge_rest(struct ending *x, struct err *e)
{
	struct purge_result result;
	const struct purge_options how = {.glob = &x->platform,
		.globs = 1,
		.grace = x->has_grace ? x->grace : x->all.config.prune_grace,
		.is_retired_only = true,
		.is_dry = x->all.is_dry};
	x->all.done = "purged";
	x->all.would = "would be purged";
	memset(x->all.operation.count, 0, sizeof(x->all.operation.count));
	memset(x->all.operation.bytes, 0, sizeof(x->all.operation.bytes));
	if (purge(&x->all.operation, &x->all.config, NULL, &how, &result, e) < 0)
		return -1;
	prune_common_sum_up(&x->all);
	if (result.waiting && !x->all.is_quiet)
		printf("%" PRIu64
		       " files wait until their grace is over: then do this again, or wheelcache prune purge\n",
			result.waiting);
	return 0;
}

static int do_it(struct ending *x, struct err *e)
{
	const struct retire_options how = {.reason = x->reason, .is_dry = x->all.is_dry};
	if (prune_common_open(&x->all, e) < 0)
		return -1;
	const struct platform *p = store_platform_named(&x->all.store, str_from(x->platform));
	if (!p)
		return err_set(e, ERR_USAGE, "the store has no platform %s", x->platform);
	int retired = retire(&x->all.operation, p, &how, e);
	prune_common_sum_up(&x->all);
	if (retired == 0)
		retired = purge_rest(x, e);
	struct err unreleased = ERR_INIT;
	if (operation_end(&x->all.operation, retired < 0 ? &unreleased : e) < 0 || retired < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write what was done") : 0;
}

static void ending_release(struct ending *x)
{
	prune_common_release(&x->all);
}

static int run_retire(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(ending_release) struct ending x = {.reason = ""};
	prune_common_init(&x.all, "unlisted", "would be unlisted");
	int first = command_options(self, argc, argv, take_option, &x, e);
	if (first < 0 || take_words(&x, argv + first, e) < 0)
		return err_exit_code(e->kind);
	return do_it(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

static const struct command command_platform_retire = {
	.name = "platform retire",
	.arguments = "PLATFORM [STORE]",
	.help = "take a whole platform out of use",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run_retire,
};

static const struct command *const rows[] = {
	&command_platform_retire,
	NULL,
};

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	return command_run_row(self, rows, argc, argv, e);
}

const struct command command_platform = {
	.name = "platform",
	.help = "whole platforms: retire one",
	.run = run,
};

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "pruner/operations/apply.h"

struct applying {
	struct prune_common all;
	const char *plan;
	struct apply_options how;
	bool has_max_files, has_max_bytes, has_max_failures;
};

static const struct option_row options[] = {
	{"max-files", '\0', "N%", "so much of a platform's files may go, whatever [prune] says"},
	{"max-bytes", '\0', "N%", "so much of a platform's bytes may go"},
	{"max-failures", '\0', "N%", "so many look-ups may fail"},
	{"accept-changed-policy", '\0', NULL, "the policy may be another one than that of the plan"},
	{"skip-changed-wheels", '\0', NULL, "leave out what is another file now"},
	{"skip-changed-evidence", '\0', NULL, "leave out what would not be removed today"},
	{"dry-run", 'n', NULL, "look at everything again, and change nothing"},
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"quiet", 'q', NULL, "do not tell what was done"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct applying *x = ctx;
	const struct command_flag flags[] = {
		{"accept-changed-policy", &x->how.accepts_changed_policy},
		{"skip-changed-wheels", &x->how.skips_changed_wheels},
		{"skip-changed-evidence", &x->how.skips_changed_evidence},
	};
	const struct cli_config_number numbers[] = {
		{"max-files", &config_type_percent, &x->how.max_files},
		{"max-bytes", &config_type_percent, &x->how.max_bytes},
		{"max-failures", &config_type_percent, &x->how.max_failures},
	};
	const struct command_flag given[] = {
		{"max-files", &x->has_max_files},
		{"max-bytes", &x->has_max_bytes},
		{"max-failures", &x->has_max_failures},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	if (command_take_flag(given, ARRAY_SIZE(given), name))
		return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
	return prune_common_take(&x->all, name, value, e);
}

// PLAN, then one STORE at most.
static int take_words(struct applying *x, char **words, struct err *e)
{
	if (!*words)
		return err_set(e, ERR_USAGE, "no PLAN is given: what wheelcache prune plan -o FILE wrote");
	if (words[1] && words[2])
		return err_set(e, ERR_USAGE, "one PLAN and one STORE, not also %s", words[2]);
	x->plan = words[0];
	if (words[1])
		cli_config_take_store(&x->all.settings, words[1]);
	return 0;
}

static void take_rest_from_config(struct applying *x)
{
	const struct config *c = &x->all.config;
	if (!x->has_max_files)
		x->how.max_files = c->prune_max_files;
	if (!x->has_max_bytes)
		x->how.max_bytes = c->prune_max_bytes;
	if (!x->has_max_failures)
		x->how.max_failures = c->prune_max_failures;
	x->how.is_dry = x->all.is_dry;
	x->how.lookup_progress = progress_look;
	x->how.file_progress = progress_export;
	x->how.ctx = &x->all.progress;
}

static int do_it(struct applying *x, struct err *e)
{
	CLEANUP(planfile_release) struct planfile plan = {0};
	CLEANUP(policy_release) struct policy policy = {0};
	if (planfile_read(x->plan, &plan, e) < 0 || prune_common_open(&x->all, e) < 0)
		return -1;
	const struct policy_takes takes = apply_takes(&plan.head);
	if (policy_init(&policy, &x->all.config, &x->all.store, &takes, e) < 0)
		return -1;
	take_rest_from_config(x);
	int result = apply(&x->all.operation, &x->all.config, &policy, &plan, &x->how, e);
	progress_end(&x->all.progress);
	prune_common_sum_up(&x->all);
	if (result == 0 && !x->all.is_quiet && !x->all.is_dry)
		printf("To undo it: wheelcache prune restore --run %s\n", plan.head.id);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write what was done");
	return result;
}

static void applying_release(struct applying *x)
{
	prune_common_release(&x->all);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(applying_release) struct applying x = {.plan = NULL};
	prune_common_init(&x.all, "pruned", "would be pruned");
	int first = command_options(self, argc, argv, take_option, &x, e);
	if (first < 0 || take_words(&x, argv + first, e) < 0)
		return err_exit_code(e->kind);
	return do_it(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_apply = {
	.name = "prune apply",
	.arguments = "PLAN [STORE]",
	.help = "unlist what a plan removes",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

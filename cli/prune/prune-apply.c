// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "pruner/operations/apply.h"

struct apply_command {
	struct prune_common all;
	const char *plan;
	struct apply_options how;
	struct exceptions except;
	bool has_max_files, has_max_bytes, has_max_failures;
};

static const struct option_row options[] = {
	{"except", '\0', "GLOB|@FILE", "leave these files as they are; @FILE: a glob a line", NO_KEY},
	{"max-files", '\0', "N%", "remove up to N% of a platform's files, instead of [prune] max-files", NO_KEY},
	{"max-bytes", '\0', "N%", "remove up to N% of a platform's bytes", NO_KEY},
	{"max-failures", '\0', "N%", "accept a plan with up to N% failed look-ups", NO_KEY},
	{"accept-changed-policy", '\0', NULL, "apply the plan although the policy has changed since", NO_KEY},
	{"skip-changed-wheels", '\0', NULL, "skip files whose bytes have changed since the plan", NO_KEY},
	{"skip-changed-evidence", '\0', NULL, "skip files that a new plan would keep", NO_KEY},
};

static int take_apply_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct apply_command *x = ctx;
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
	if (strcmp(name, "except") == 0)
		return exceptions_add(&x->except, value, e);
	if (command_take_flag(given, ARRAY_SIZE(given), name))
		return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
	return prune_common_take(&x->all, name, value, e);
}

// Expects PLAN, then at most one STORE.
static int take_apply_words(struct apply_command *x, char **words, struct err *e)
{
	if (!*words)
		return err_set(e, ERR_USAGE, "no PLAN is given: a file that wheelcache prune plan -o FILE writes");
	if (words[1] && words[2])
		return err_set(e, ERR_USAGE, "expected one PLAN and at most one STORE, not also %s", words[2]);
	x->plan = words[0];
	if (words[1])
		cli_config_take_store(&x->all.settings, words[1]);
	return 0;
}

static void complete_options(struct apply_command *x)
{
	const struct config *c = &x->all.config;
	if (!x->has_max_files)
		x->how.max_files = c->prune_max_files;
	if (!x->has_max_bytes)
		x->how.max_bytes = c->prune_max_bytes;
	if (!x->has_max_failures)
		x->how.max_failures = c->prune_max_failures;
	exceptions_sort(&x->except);
	x->how.except = &x->except;
	x->how.is_dry = x->all.settings.is_dry_run;
	x->how.lookup_progress = progress_look;
	x->how.file_progress = progress_export;
	x->how.ctx = &x->all.progress;
}

static int apply_plan(struct apply_command *x, struct err *e)
{
	CLEANUP(planfile_release) struct planfile plan = {0};
	CLEANUP(policy_release) struct policy policy = {0};
	if (planfile_read(x->plan, &plan, e) < 0 || prune_common_open(&x->all, e) < 0)
		return -1;
	const struct policy_takes takes = apply_takes(&plan.head);
	if (policy_init(&policy, &x->all.config, &x->all.store, &takes, e) < 0)
		return -1;
	complete_options(x);
	int result = apply(&x->all.operation, &x->all.config, &policy, &plan, &x->how, e);
	progress_end(&x->all.progress);
	prune_common_sum_up(&x->all);
	if (result == 0 && !x->all.settings.is_quiet && !x->all.settings.is_dry_run)
		printf("To undo it: wheelcache prune restore --run %s\n", plan.head.id);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	return result;
}

static void apply_command_release(struct apply_command *x)
{
	exceptions_release(&x->except);
	prune_common_release(&x->all);
}

static int run_apply(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(apply_command_release) struct apply_command x = {.plan = NULL};
	prune_common_init(&x.all, "pruned", "would be pruned");
	int first = cli_config_options(&x.all.settings, self, argc, argv, take_apply_option, &x, e);
	if (first < 0 || take_apply_words(&x, argv + first, e) < 0)
		return err_exit_code(e->kind);
	return apply_plan(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_prune_apply = {
	.name = "prune apply",
	.arguments = "PLAN [STORE]",
	.help = "unlist the files that a plan removes",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(QUIET),
	.run = run_apply,
};

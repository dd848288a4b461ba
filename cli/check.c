// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/random.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/report.h"
#include "indexer/check/check.h"
#include "lib/state/config/config-type.h"
#include "lib/state/views/membership.h"
#include "lib/view/site-check.h"

enum { DEFAULT_SAMPLE = 1000 };

struct check_command {
	struct cli_config settings;
	struct config config;
	struct check_options check;
	bool has_sample;
	struct progress progress;
};

static const struct option_row options[] = {
	{"all", 'a', NULL, "hash all listed files", NO_KEY},
	{"sample", 'n', "N", "hash N listed files, chosen at random; 1000", NO_KEY},
	{"seed", '\0', "N", "choose the same files as the check that printed this seed", NO_KEY},
	{"rate", '\0', "SIZE", "read at most SIZE bytes per second, such as 64M", NO_KEY},
};

static int take_check_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct check_command *x = ctx;
	const struct command_flag flags[] = {{"all", &x->check.hashes_all}};
	const struct cli_config_number numbers[] = {
		{"sample", &config_type_integer, &x->check.sample},
		{"seed", &config_type_integer, &x->check.seed},
		{"rate", &config_type_size, &x->check.rate},
	};
	x->has_sample |= strcmp(name, "sample") == 0;
	if (command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

// Each run has a new seed, so that repeated runs cover the store.
static void choose_seed(uint64_t *seed)
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = 0;
	*seed = 1 + random % (config_type_integer.most - 1);
}

static int complete_options(struct check_command *x, struct err *e)
{
	if (x->check.hashes_all && (x->has_sample || x->check.seed))
		return err_set(e, ERR_USAGE, "--all hashes all files: it excludes --sample and --seed");
	if (!x->has_sample)
		x->check.sample = DEFAULT_SAMPLE;
	if (!x->check.seed)
		choose_seed(&x->check.seed);
	x->check.threads = (unsigned)x->config.index_threads;
	x->check.settle = x->config.settle;
	x->check.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	return 0;
}

static int check_against(struct check_command *x, const struct store *store, struct catalog *catalog, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	progress_begin(&x->progress, !x->settings.is_quiet);
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->config);
	x->check.views = views;
	int result = check_run(store, catalog, &x->check, &summary, e);
	x->check.views = NULL;
	progress_end(&x->progress);
	if (result < 0 || report_print(&x->settings, &summary, e) < 0)
		return -1;
	return check_verdict(&summary, e);
}

static int check_store(struct check_command *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || complete_options(x, e) < 0 ||
		store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open_read(path, &catalog, e) < 0 || site_check_find(&x->config, &store, catalog, e) < 0)
		return -1;
	return check_against(x, &store, catalog, e);
}

static void check_command_release(struct check_command *x)
{
	config_release(&x->config);
}

static int run_check(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(check_command_release) struct check_command x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_check_option, &x, e) < 0)
		return err_exit_code(e->kind);
	return check_store(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_check = {
	.name = "check",
	.arguments = "[STORE]",
	.help = "compare a store with its catalog, and print the differences",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(THREADS) | SHARED(JSON) | SHARED(QUIET),
	.run = run_check,
};

// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/random.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/report.h"
#include "indexer/check/check.h"
#include "lib/state/config/config-type.h"

enum { SAMPLE = 1000 }; // unless something else is said

struct checking_store {
	struct cli_config settings;
	struct config config;
	struct check_options check;
	struct report report;
	bool has_sample;
	struct progress progress;
};

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"all", 'a', NULL, "hash every listed file"},
	{"sample", 'n', "N", "hash N listed files by random choice; 1000"},
	{"seed", '\0', "N", "choose as an earlier check did, which told this number"},
	{"rate", '\0', "SIZE", "read so many bytes a second at most, as 64M"},
	{"threads", '\0', "N", "threads that read the store; one a processor"},
	{"json", '\0', NULL, "print the summary as JSON"},
	{"quiet", 'q', NULL, "no progress bar and no summary"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static const struct cli_config_option keys[] = {
	{"catalog", "catalog", "path"},
	{"threads", "index", "threads"},
	{"log-level", "server", "log-level"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct checking_store *x = ctx;
	const struct command_flag flags[] = {
		{"all", &x->check.hashes_all},
		{"json", &x->report.is_json},
		{"quiet", &x->report.is_quiet},
	};
	const struct cli_config_number numbers[] = {
		{"sample", &config_type_integer, &x->check.sample},
		{"seed", &config_type_integer, &x->check.seed},
		{"rate", &config_type_size, &x->check.rate},
	};
	x->has_sample |= strcmp(name, "sample") == 0;
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		cli_config_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

// Another one each time, so that a timer comes to all of the store by and by.
static void choose_seed(uint64_t *seed)
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = 0;
	*seed = 1 + random % (config_type_integer.most - 1);
}

static int settle_options(struct checking_store *x, struct err *e)
{
	if (x->check.hashes_all && (x->has_sample || x->check.seed))
		return err_set(e, ERR_USAGE, "--all leaves nothing to choose: no --sample, no --seed");
	if (!x->has_sample)
		x->check.sample = SAMPLE;
	if (!x->check.seed)
		choose_seed(&x->check.seed);
	x->check.threads = (unsigned)x->config.index_threads;
	x->check.settle = x->config.settle;
	x->check.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	return 0;
}

static int check(struct checking_store *x, const struct store *store, struct catalog *catalog, struct err *e)
{
	CLEANUP(summary_release) struct summary summary = {0};
	progress_begin(&x->progress, !x->report.is_quiet);
	int result = check_run(store, catalog, &x->check, &summary, e);
	progress_end(&x->progress);
	if (result < 0 || report_print(&x->report, &summary, e) < 0)
		return -1;
	return check_verdict(&summary, e);
}

static int check_store(struct checking_store *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || settle_options(x, e) < 0 ||
		store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open_read(path, &catalog, e) < 0 || store_find(&store, catalog, e) < 0)
		return -1;
	return check(x, &store, catalog, e);
}

static void checking_release(struct checking_store *x)
{
	config_release(&x->config);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(checking_release) struct checking_store x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_option, &x, e) < 0)
		return err_exit_code(e->kind);
	return check_store(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_check = {
	.name = "check",
	.arguments = "[STORE]",
	.help = "hold a store against its catalog, and tell what differs",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

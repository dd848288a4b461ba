// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/prune/prune-common.h"
#include "lib/domain/text/filename.h"
#include "pruner/operations/restore.h"

struct restoring {
	struct prune_common all;
	const char *run;
};

static const struct option_row options[] = {
	{"run", '\0', "ID", "all that this run pruned: the id of its plan"},
	{"platform", 'p', "GLOB", "only on platforms of such names; may be repeated"},
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"quiet", 'q', NULL, "do not tell what was restored"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct restoring *x = ctx;
	if (strcmp(name, "run") != 0)
		return prune_common_take(&x->all, name, value, e);
	x->run = value;
	return 0;
}

// FILE..., then one STORE at most: whatever is no name of a wheel or an sdist. Returns how many are files, or -1.
static int take_words(struct restoring *x, char **words, struct err *e)
{
	int files = 0;
	while (words[files] && filename_kind(str_from(words[files])) != FILENAME_OTHER && !strchr(words[files], '/'))
		files++;
	if (words[files] && words[files + 1])
		return err_set(e, ERR_USAGE, "one STORE, behind the FILEs; not also %s", words[files + 1]);
	if (words[files])
		cli_config_take_store(&x->all.settings, words[files]);
	if (!files == !x->run)
		return err_set(e, ERR_USAGE, "what is to be restored: the names of wheels or sdists, or --run ID");
	return files;
}

static int do_it(struct restoring *x, char **words, int files, struct err *e)
{
	const struct restore_options what = {.file = (const char *const *)words,
		.files = (size_t)files,
		.run = x->run,
		.glob = x->all.glob,
		.globs = x->all.globs};
	if (prune_common_open(&x->all, e) < 0)
		return -1;
	int result = restore(&x->all.operation, &what, e);
	prune_common_sum_up(&x->all);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write what was done");
	return result;
}

static void restoring_release(struct restoring *x)
{
	prune_common_release(&x->all);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(restoring_release) struct restoring x = {.run = NULL};
	prune_common_init(&x.all, "restored", "would be restored");
	x.all.tells_each = true;
	int first = command_options(self, argc, argv, take_option, &x, e);
	int files = first < 0 ? -1 : take_words(&x, argv + first, e);
	return files >= 0 && do_it(&x, argv + first, files, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_prune_restore = {
	.name = "prune restore",
	.arguments = "FILE... [STORE]",
	.help = "list again what was pruned",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

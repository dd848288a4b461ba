// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/file-word.h"
#include "cli/prune/prune-common.h"
#include "pruner/operations/restore.h"

struct restore_command {
	struct prune_common all;
	const char *run;
	struct file_word *word; // of each FILE
	const char **name, **on;
	size_t words;
};

static const struct option_row options[] = {
	{"run", '\0', "ID", "all files that the plan with this ID removed", NO_KEY},
};

static int take_restore_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct restore_command *x = ctx;
	const struct command_text texts[] = {{"run", &x->run}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return prune_common_take(&x->all, name, value, e);
}

// Expects FILE..., then at most one STORE, which is neither the name nor the path of a wheel or sdist. Returns the number of files, or
// -1.
static int take_restore_words(struct restore_command *x, char **words, struct err *e)
{
	int files = 0;
	while (words[files] && file_word_fits(words[files]))
		files++;
	if (words[files] && words[files + 1])
		return err_set(e, ERR_USAGE, "expected at most one STORE after the FILEs, not also %s",
			words[files + 1]);
	if (words[files])
		cli_config_take_store(&x->all.settings, words[files]);
	if (!files == !x->run)
		return err_set(e, ERR_USAGE, "expected either names or paths of wheels or sdists, or --run ID");
	return files;
}

// After the store is open.
static int read_restore_words(struct restore_command *x, char **words, int files, struct err *e)
{
	x->word = xcalloc((size_t)files + 1, sizeof(*x->word));
	x->name = xcalloc((size_t)files + 1, sizeof(*x->name));
	x->on = xcalloc((size_t)files + 1, sizeof(*x->on));
	for (size_t i = 0; i < (size_t)files; i++) {
		struct file_word *w = &x->word[x->words++];
		if (file_word_read(words[i], &x->all.store, w, e) < 0 || file_word_check(w, x->all.catalog, e) < 0)
			return -1;
		x->name[i] = w->name;
		x->on[i] = w->platform ? w->platform->name : NULL;
	}
	return 0;
}

static int restore_files(struct restore_command *x, char **words, int files, struct err *e)
{
	if (prune_common_open(&x->all, e) < 0 || read_restore_words(x, words, files, e) < 0)
		return -1;
	const struct restore_options what = {.file = x->name,
		.on = x->on,
		.files = x->words,
		.run = x->run,
		.glob = x->all.globs.item,
		.globs = x->all.globs.count};
	int result = restore(&x->all.operation, &what, e);
	prune_common_sum_up(&x->all);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	return result;
}

static void restore_command_release(struct restore_command *x)
{
	for (size_t i = 0; i < x->words; i++)
		file_word_release(&x->word[i]);
	free(x->word);
	free(x->name);
	free(x->on);
	prune_common_release(&x->all);
}

static int run_restore(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(restore_command_release) struct restore_command x = {.run = NULL};
	prune_common_init(&x.all, "restored", "would be restored");
	x.all.prints_each = true;
	int first = cli_config_options(&x.all.settings, self, argc, argv, take_restore_option, &x, e);
	int files = first < 0 ? -1 : take_restore_words(&x, argv + first, e);
	return files >= 0 && restore_files(&x, argv + first, files, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_prune_restore = {
	.name = "prune restore",
	.arguments = "FILE... [STORE]",
	.help = "list pruned files again",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(QUIET),
	.run = run_restore,
};

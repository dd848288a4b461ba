// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/random.h>

#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/output.h"
#include "indexer/check/check.h"
#include "lib/base/log.h"
#include "lib/state/upstream/mirror-lacks.h"
#include "lib/state/views/membership.h"

enum { DEFAULT_SAMPLE = 1000 };

struct check_command {
	struct session s;
	struct check_options check;
	struct progress progress;
};

static const struct option_row options[] = {
	{"all", 'a', NULL, "hash all listed files", FLAG(check_command, check.hashes_all)},
	{"sample", 'n', "N", "hash N listed files, chosen at random; 1000",
		NUMBER(check_command, check.sample, integer)},
	{"seed", '\0', "N", "choose the same files as the check that printed this seed",
		NUMBER(check_command, check.seed, integer)},
	{"rate", '\0', "SIZE", "read at most SIZE bytes per second, such as 64M",
		NUMBER(check_command, check.rate, size)},
};

// Each run has a new seed, so that repeated runs cover the store.
static void choose_seed(uint64_t *seed)
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = 0;
	*seed = 1 + random % (config_type_integer.most - 1);
}

static void tell_mirror(void *ctx, const struct mirror *m, const struct mirror_lacks *l)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(SIZE_MAX / 2);
	mirror_lacks_words(l, &words);
	log_error("mirror %s: %s", m->name, words.data);
	*(bool *)ctx = true;
}

static int run_check(void *self, struct err *e)
{
	struct check_command *x = self;
	CLEANUP(summary_release) struct summary summary = {0};
	if (session_open(&x->s, SESSION_STORE | SESSION_READ | SESSION_FIND, e) < 0)
		return -1;
	if (x->check.hashes_all && (x->check.sample != SESSION_UNSET || x->check.seed))
		return err_set(e, ERR_USAGE, "--all hashes all files: it excludes --sample and --seed");
	if (x->check.sample == SESSION_UNSET)
		x->check.sample = DEFAULT_SAMPLE;
	if (!x->check.seed)
		choose_seed(&x->check.seed);
	x->check.threads = (unsigned)x->s.config.index_threads;
	x->check.settle = x->s.config.settle;
	x->check.watch = (struct walk_watch){.progress = progress_walk, .ctx = &x->progress};
	progress_begin(&x->progress, !x->s.is_quiet);
	CLEANUP(mem_free) char *views = views_folder_or_none(&x->s.config);
	x->check.views = views;
	int result = check_run(&x->s.store, x->s.catalog, &x->check, &summary, e);
	x->check.views = NULL;
	progress_end(&x->progress);
	bool is_lacking = false;
	if (result < 0 || output_summary(&x->s, &summary, e) < 0 ||
		mirror_lacks_each(&x->s.config, x->s.catalog_path, tell_mirror, &is_lacking, e) < 0)
		return -1;
	return check_verdict(&summary, e) < 0 ? -1 : is_lacking ? 1 : 0;
}

static void begin_check(void *self)
{
	((struct check_command *)self)->check.sample = SESSION_UNSET;
}

const struct command command_check = {
	.name = "check",
	.arguments = "[STORE]",
	.help = "compare a store with its catalog, and print the differences",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(THREADS) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct check_command),
	.begin = begin_check,
	.run = run_check,
};

// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check.h"

#include <inttypes.h>

#include "indexer/check/misplaced.h"
#include "indexer/check/verify-file.h"
#include "indexer/walk/scan-file.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-check.h"

struct check {
	const struct store *store;
	struct catalog *catalog;
	const struct check_options *options;
	struct summary *summary;
	struct checking checking;
	struct sample *sample; // NULL: all
	struct throttle *throttle;
	struct layout layout;
	struct walk walk;
};

static void check_release(struct check *c)
{
	walk_release(&c->walk); // the crew uses all below
	layout_release(&c->layout);
	throttle_free(c->throttle);
	sample_free(c->sample);
	pthread_mutex_destroy(&c->checking.lock);
}

// Instead of each of its files: a volume is not mounted, or no scan has seen yet what was done on
// purpose.
static int see_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	struct check *c = ctx;
	if (store_platform(c->store, p->id) || !p->files)
		return 0;
	CLEANUP(mem_free)
	char *text =
		xasprintf("platform %s: the store has it no more, but the catalog knows %" PRIu64
			  " files there",
			p->name, p->files);
	summary_add(c->summary, CHECKED_LIST_UNREADABLE, text, NULL, NULL);
	return 0;
}

static void see_misplaced(
	void *ctx, int64_t platform, const char *folder, const char *filename, const char *project)
{
	struct check *c = ctx;
	CLEANUP(mem_free)
	char *path =
		xasprintf("%s/%s/%s", store_platform(c->store, platform)->name, folder, filename);
	summary_add(c->summary, CHECKED_LIST_MISPLACED, path, project, NULL);
}

// Before the walk, in one thread: what can be said of a file by the catalog alone, and whether it
// is chosen.
static int see_good(void *ctx, const struct catalog_good *file, struct err *e UNUSED)
{
	struct check *c = ctx;
	if (!store_platform(c->store, file->platform))
		return 0;
	layout_see(&c->layout, file->platform, file->folder, file->filename, file->project);
	if (file->state != FILE_IS_LISTED)
		return 0;
	c->summary->number[CHECKED_LISTED]++;
	if (c->sample)
		sample_offer(c->sample, file->id, file->size);
	else
		c->walk.bytes += file->size;
	return 0;
}

static int choose(struct check *c, struct err *e)
{
	if (catalog_platforms(c->catalog, see_platform, c, e) < 0 ||
		catalog_good_files(c->catalog, see_good, c, e) < 0)
		return -1;
	layout_end(&c->layout);
	if (!c->sample)
		return 0;
	sample_end(c->sample);
	c->walk.bytes = sample_bytes(c->sample);
	return 0;
}

// A file that the catalog did not know when its folder was looked at.
static int see_new(struct check *c, const struct outcome *o, struct err *e)
{
	const struct folder *f = o->folder;
	int known = catalog_has_file(c->catalog, f->platform->id, f->path, o->facts->filename, e);
	if (known)
		return known < 0 ? -1 : 0;
	if (o->facts->refusal)
		c->summary->number[CHECKED_DAMAGED]++;
	else
		checking_found(
			&c->checking, CHECKED_LIST_STRANGE, f, o->facts->filename, NULL, NULL);
	return 0;
}

static int see_gone(struct check *c, const struct outcome *o, struct err *e)
{
	CLEANUP(mem_free) char *filename = NULL;
	int known = catalog_file_name(c->catalog, o->id, &filename, e);
	if (known > 0)
		checking_found(
			&c->checking, CHECKED_LIST_ORPHANED, o->folder, filename, NULL, NULL);
	return known < 0 ? -1 : 0;
}

static int see_problem(struct check *c, const struct outcome *o)
{
	pthread_mutex_lock(&c->checking.lock);
	summary_add(c->summary, CHECKED_LIST_UNREADABLE, o->text, NULL, NULL);
	pthread_mutex_unlock(&c->checking.lock);
	return 0;
}

static int take(void *ctx, const struct outcome *o, struct err *e)
{
	if (!o)
		return 0;
	switch (o->kind) {
	case OUTCOME_FILE:
		return see_new(ctx, o, e);
	case OUTCOME_FILE_GONE:
		return see_gone(ctx, o, e);
	case OUTCOME_PROBLEM:
		return see_problem(ctx, o);
	case OUTCOME_MARK:
	case OUTCOME_FOLDER_NEW:
	case OUTCOME_FOLDER:
	case OUTCOME_FOLDER_GONE:
	case OUTCOME_WAITING:
		return 0;
	}
	return 0;
}

static void sum_up(struct check *c)
{
	static const struct {
		enum crew_count from;
		enum checked_number to;
	} row[] = {
		{COUNT_FILES, CHECKED_FILES},
		{COUNT_CHECKED, CHECKED_HASHED},
		{COUNT_WAITING, CHECKED_WAITING},
		{COUNT_IGNORED, CHECKED_IGNORED},
		{COUNT_LINKS, CHECKED_LINKS},
		{COUNT_BYTES, CHECKED_BYTES},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		c->summary->number[row[i].to] = crew_counted(c->walk.crew, row[i].from);
	for (unsigned i = 0; i < CHECKED_LISTS; i++) {
		c->summary->number[CHECKED_CORRUPT + i] = c->summary->list[i].all;
		summary_sort(c->summary, i);
	}
	if (c->sample && c->summary->number[CHECKED_LISTED] > c->options->sample)
		c->summary->number[CHECKED_SEED] = c->options->seed;
}

static int run(struct check *c, struct err *e)
{
	if (choose(c, e) < 0 || walk_run(&c->walk, e) < 0)
		return -1;
	walk_report(&c->walk, WALK_ENDS);
	sum_up(c);
	return catalog_is_current(c->catalog, e);
}

int check_run(const struct store *store, struct catalog *catalog,
	const struct check_options *options, struct summary *summary, struct err *e)
{
	int64_t begin = clock_wall_ns();
	*summary = (struct summary){.shape = &checked_shape};
	CLEANUP(check_release)
	struct check c = {
		.store = store, .catalog = catalog, .options = options, .summary = summary};
	c.sample = options->hashes_all ? NULL : sample_new(options->sample, options->seed);
	c.throttle = options->rate ? throttle_new(options->rate) : NULL;
	c.checking = (struct checking){.sample = c.sample, .summary = summary};
	pthread_mutex_init(&c.checking.lock, NULL);
	layout_init(&c.layout, see_misplaced, &c);
	c.walk = (struct walk){
		.watch = options->watch,
		.catalog = catalog,
		.crew_options = {.store = store,
			.threads = options->threads,
			.settle_ns = (int64_t)options->settle * 1000000000,
			.lists_all = true,
			.is_wanted = checking_is_wanted,
			.look = checking_run,
			.ctx = &c.checking,
			.throttle = c.throttle},
		.take = take,
		.ctx = &c,
	};
	int result = run(&c, e);
	summary->seconds = (double)(clock_wall_ns() - begin) / 1e9;
	return result;
}

int check_verdict(const struct summary *summary, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, ERR_MSG_SIZE);
	for (unsigned i = 0; i < CHECKED_LISTS; i++)
		if (summary->list[i].all)
			buf_printf(&text, "%s%" PRIu64 " %s", text.len ? ", " : "",
				summary->list[i].all, summary->shape->list[i].key);
	return text.len ? err_set(e, ERR_INVALID, "store and catalog differ: %s", text.data) : 0;
}

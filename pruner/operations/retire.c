// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-candidate.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "pruner/operations/tombstones.h"

// What is to be unlisted: a file, or one that another run unlisted already.
struct retiring {
	struct errand *errand;
	const struct platform *platform;
	const struct retire_options *options;
	struct graves found;
	struct names projects;
	const char *name; // of the project that is being looked at
	char *run, *reason;
	int64_t now;
};

static void retiring_release(struct retiring *r)
{
	names_release(&r->projects);
	free(r->run);
	free(r->reason);
	graves_release(&r->found);
}

// --- what there is ---

static int add_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct retiring *r = ctx;
	names_add(&r->projects, project->project);
	return 0;
}

static int add_file(void *ctx, const struct catalog_held *file, struct err *e UNUSED)
{
	struct retiring *r = ctx;
	if (file->platform != r->platform->id)
		return 0;
	CLEANUP(mem_free) char *folder = errand_folder(file->path);
	struct grave one = {.platform = r->platform,
		.filename = file->filename,
		.folder = folder,
		.project = r->name,
		.requires_python = file->requires_python,
		.size = file->size,
		.has_sha256 = file->sha256 != NULL};
	if (file->sha256)
		memcpy(one.sha256, file->sha256, SHA256_SIZE);
	graves_add(&r->found, &one);
	return 0;
}

// Another run's, which the platform's end overtakes.
static bool is_overtaken(void *ctx UNUSED, const struct grave *grave, const struct tombstone *stone)
{
	return grave->has_file && stone->run && !(stone->verdict && strcmp(stone->verdict, TOMBSTONE_RETIRED) == 0);
}

// Those in quarantine may have a tombstone already.
static bool is_buried_and_refused(void *ctx UNUSED, const struct grave *grave, const struct tombstone *stone UNUSED)
{
	return grave->has_file && grave->refusal;
}

static int find(struct retiring *r, struct err *e)
{
	struct catalog *c = r->errand->catalog;
	const struct graves_wanted overtaken = {
		.glob = (const char *const *)&r->platform->name, .globs = 1, .fits = is_overtaken};
	if (graves_load(&r->found, r->errand->store, c, &overtaken, e) < 0 ||
		catalog_projects(c, r->platform->id, add_project, r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->projects.count; i++) {
		r->name = r->projects.item[i];
		if (catalog_held_files(c, r->platform->id, r->name, add_file, r, e) < 0)
			return -1;
	}
	r->name = NULL;
	return catalog_refused_files(c, add_file, r, e);
}

static bool is_done(const struct graves *done, const struct grave *g)
{
	for (size_t i = 0; i < done->count; i++)
		if (strcmp(done->item[i].filename, g->filename) == 0 && strcmp(done->item[i].folder, g->folder) == 0)
			return true;
	return false;
}

// --- doing it ---

static int bury(struct retiring *r, const struct grave *g, struct err *e)
{
	struct err why = ERR_INIT;
	struct tombstone stone = {.reason = r->reason,
		.when = r->now,
		.by = r->errand->who,
		.verdict = TOMBSTONE_RETIRED,
		.run = r->run,
		.project = g->project,
		.requires_python = g->requires_python,
		.size = (int64_t)g->size,
		.has_sha256 = g->has_sha256};
	memcpy(stone.sha256, g->sha256, SHA256_SIZE);
	if (r->options->is_dry) {
		errand_tell(r->errand, g->platform, g->filename, ERRAND_WOULD, g->size, "");
		return 0;
	}
	int buried = marks_remove(g->platform, r->errand->catalog, g->filename, g->folder, &stone, false, &why);
	errand_tell(r->errand, g->platform, g->filename, buried < 0 ? ERRAND_FAILED : ERRAND_DONE, g->size, why.msg);
	return errand_note(r->errand,
		&(struct errand_deed){.platform = g->platform,
			.action = "retire",
			.project = g->project,
			.file = g->filename,
			.sha256 = g->has_sha256 ? g->sha256 : NULL,
			.reason = r->options->reason,
			.failure = buried < 0 ? &why : NULL},
		e);
}

static int freeze(struct retiring *r, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2);
	int frozen = freeze_is(r->platform, &why, e);
	if (frozen > 0 && !freeze_is_retirement(buf_view(&why)))
		return err_set(e, ERR_BUSY, "platform %s is frozen: %s; thaw it first", r->platform->name, why.data);
	if (frozen < 0 || r->options->is_dry)
		return frozen < 0 ? -1 : 0;
	if (frozen > 0)
		return freeze_settle(r->platform, FREEZE_WAIT_MS, e);
	CLEANUP(mem_free) char *reason = *r->options->reason
						 ? xasprintf(FREEZE_RETIRED ": %s", r->options->reason)
						 : xstrdup(FREEZE_RETIRED);
	if (freeze_set(r->platform, r->errand->who, reason, FREEZE_WAIT_MS, e) < 0)
		return -1;
	return errand_note(r->errand,
		&(struct errand_deed){.platform = r->platform, .action = "freeze", .reason = reason}, e);
}

int retire(struct errand *x, const struct platform *p, const struct retire_options *options, struct err *e)
{
	CLEANUP(graves_release) struct graves refused = {0};
	CLEANUP(retiring_release) struct retiring r = {
		.errand = x, .platform = p, .options = options, .now = clock_wall_seconds()};
	const struct graves_wanted wanted = {
		.glob = (const char *const *)&p->name, .globs = 1, .fits = is_buried_and_refused};
	r.run = xasprintf("retire-%s", p->name);
	r.reason = xasprintf("the platform was retired%s%s", *options->reason ? ": " : "", options->reason);
	if (!p->id)
		return err_set(e, ERR_NOT_FOUND, "platform %s is not in the catalog: wheelcache index comes first", p->name);
	if (freeze(&r, e) < 0 || find(&r, e) < 0 || graves_load(&refused, x->store, x->catalog, &wanted, e) < 0)
		return -1;
	for (size_t i = 0; i < r.found.count; i++)
		if (!is_done(&refused, &r.found.item[i]) && bury(&r, &r.found.item[i], e) < 0)
			return -1;
	uint64_t failed = x->count[ERRAND_FAILED];
	return failed ? err_set(e, ERR_IO, "%llu files are listed still", (unsigned long long)failed) : 0;
}

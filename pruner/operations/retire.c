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
	struct operation *operation;
	const struct platform *platform;
	const struct retire_options *options;
	struct tombstones found;
	struct strset projects;
	const char *name; // of the project that is being looked at
	char *run, *reason;
	int64_t now;
};

static void retiring_release(struct retiring *r)
{
	strset_release(&r->projects);
	free(r->run);
	free(r->reason);
	tombstones_release(&r->found);
}

// --- what there is ---

static int add_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct retiring *r = ctx;
	strset_add(&r->projects, project->project);
	return 0;
}

static int add_file(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct retiring *r = ctx;
	if (file->platform != r->platform->id)
		return 0;
	CLEANUP(mem_free) char *folder = operation_folder(file->path);
	struct tombstones_file one = {.platform = r->platform,
		.filename = file->filename,
		.folder = folder,
		.project = r->name,
		.requires_python = file->requires_python,
		.size = file->size,
		.has_sha256 = file->sha256 != NULL};
	if (file->sha256)
		memcpy(one.sha256, file->sha256, SHA256_SIZE);
	tombstones_add(&r->found, &one);
	return 0;
}

// Another run's, which the platform's end overtakes.
static bool is_overtaken(void *ctx UNUSED, const struct tombstones_file *grave, const struct tombstone *stone)
{
	return grave->has_file && stone->run && !(stone->verdict && strcmp(stone->verdict, TOMBSTONE_RETIRED) == 0);
}

// Those in quarantine may have a tombstone already.
static bool is_buried_and_refused(void *ctx UNUSED, const struct tombstones_file *grave,
	const struct tombstone *stone UNUSED)
{
	return grave->has_file && grave->refusal;
}

static int find(struct retiring *r, struct err *e)
{
	struct catalog *c = r->operation->catalog;
	const struct tombstones_wanted overtaken = {
		.glob = (const char *const *)&r->platform->name, .globs = 1, .fits = is_overtaken};
	if (tombstones_load(&r->found, r->operation->store, c, &overtaken, e) < 0 ||
		catalog_projects(c, r->platform->id, add_project, r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->projects.count; i++) {
		r->name = r->projects.item[i];
		if (catalog_candidates(c, r->platform->id, r->name, add_file, r, e) < 0)
			return -1;
	}
	r->name = NULL;
	return catalog_quarantined_files(c, add_file, r, e);
}

static bool is_done(const struct tombstones *done, const struct tombstones_file *g)
{
	for (size_t i = 0; i < done->count; i++)
		if (strcmp(done->item[i].filename, g->filename) == 0 && strcmp(done->item[i].folder, g->folder) == 0)
			return true;
	return false;
}

// --- doing it ---

static int bury(struct retiring *r, const struct tombstones_file *g, struct err *e)
{
	struct err why = ERR_INIT;
	struct tombstone stone = {.reason = r->reason,
		.when = r->now,
		.by = r->operation->who,
		.verdict = TOMBSTONE_RETIRED,
		.run = r->run,
		.project = g->project,
		.requires_python = g->requires_python,
		.size = (int64_t)g->size,
		.has_sha256 = g->has_sha256};
	memcpy(stone.sha256, g->sha256, SHA256_SIZE);
	if (r->options->is_dry) {
		operation_tell(r->operation, g->platform, g->filename, OPERATION_WOULD, g->size, "");
		return 0;
	}
	int buried =
		sidecar_ops_remove(g->platform, r->operation->catalog, g->filename, g->folder, &stone, false, &why);
	operation_tell(r->operation, g->platform, g->filename, buried < 0 ? OPERATION_FAILED : OPERATION_DONE, g->size,
		why.msg);
	return operation_note(r->operation,
		&(struct operation_op_event){.platform = g->platform,
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
	CLEANUP(mem_free)
	char *reason =
		*r->options->reason ? xasprintf(FREEZE_RETIRED ": %s", r->options->reason) : xstrdup(FREEZE_RETIRED);
	if (freeze_set(r->platform, r->operation->who, reason, FREEZE_WAIT_MS, e) < 0)
		return -1;
	return operation_note(r->operation,
		&(struct operation_op_event){.platform = r->platform, .action = "freeze", .reason = reason}, e);
}

int retire(struct operation *x, const struct platform *p, const struct retire_options *options, struct err *e)
{
	CLEANUP(tombstones_release) struct tombstones refused = {0};
	CLEANUP(retiring_release)
	struct retiring r = {.operation = x, .platform = p, .options = options, .now = clock_wall_seconds()};
	const struct tombstones_wanted wanted = {
		.glob = (const char *const *)&p->name, .globs = 1, .fits = is_buried_and_refused};
	r.run = xasprintf("retire-%s", p->name);
	r.reason = xasprintf("the platform was retired%s%s", *options->reason ? ": " : "", options->reason);
	if (!p->id)
		return err_set(e, ERR_NOT_FOUND, "platform %s is not in the catalog: wheelcache index comes first",
			p->name);
	if (freeze(&r, e) < 0 || find(&r, e) < 0 || tombstones_load(&refused, x->store, x->catalog, &wanted, e) < 0)
		return -1;
	for (size_t i = 0; i < r.found.count; i++)
		if (!is_done(&refused, &r.found.item[i]) && bury(&r, &r.found.item[i], e) < 0)
			return -1;
	uint64_t failed = x->count[OPERATION_FAILED];
	return failed ? err_set(e, ERR_IO, "%llu files are listed still", (unsigned long long)failed) : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retire.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-candidate.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "pruner/plan/pins.h"

// found: the files to retire, those included that another run has already unlisted.
struct retire_state {
	struct operation *operation;
	const struct platform *platform;
	const struct retire_options *options;
	struct tombstones found;
	bool *is_unlisted; // of each, by this run
	struct strset projects;
	const char *name; // of the current project
	const char *run, *reason;
	struct arena text;
	int64_t now;
};

static void retire_state_release(struct retire_state *r)
{
	strset_release(&r->projects);
	tombstones_release(&r->found);
	arena_release(&r->text);
}

// --- the files of the platform ---

static int add_retired_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct retire_state *r = ctx;
	strset_add(&r->projects, project->project);
	return 0;
}

static int add_file_of_platform(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct retire_state *r = ctx;
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

// A tombstone of another run is replaced by one of the retirement.
static bool is_of_other_run(void *ctx UNUSED, const struct tombstones_file *file, const struct tombstone *stone)
{
	return file->has_file && stone->run && !(stone->verdict && strcmp(stone->verdict, TOMBSTONE_RETIRED) == 0);
}

// A quarantined file may already have a tombstone.
static bool is_quarantined_tombstone(void *ctx UNUSED, const struct tombstones_file *file,
	const struct tombstone *stone UNUSED)
{
	return file->has_file && file->refusal;
}

static int find_files(struct retire_state *r, struct err *e)
{
	struct catalog *c = r->operation->catalog;
	const struct tombstones_wanted other_runs = {
		.glob = (const char *const *)&r->platform->name, .globs = 1, .matches = is_of_other_run};
	if (tombstones_load(&r->found, r->operation->store, c, &other_runs, e) < 0 ||
		catalog_projects(c, r->platform->id, add_retired_project, r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->projects.count; i++) {
		r->name = r->projects.item[i];
		if (catalog_candidates(c, r->platform->id, r->name, add_file_of_platform, r, e) < 0)
			return -1;
	}
	r->name = NULL;
	return catalog_quarantined_files(c, add_file_of_platform, r, e);
}

static bool has_tombstone(const struct tombstones *done, const struct tombstones_file *f)
{
	for (size_t i = 0; i < done->count; i++)
		if (strcmp(done->item[i].filename, f->filename) == 0 && strcmp(done->item[i].folder, f->folder) == 0)
			return true;
	return false;
}

// --- retiring ---

static struct operation_file file_of(const struct tombstones_file *f)
{
	return (struct operation_file){.platform = f->platform,
		.filename = f->filename,
		.project = f->project,
		.folder = f->folder,
		.sha256 = f->has_sha256 ? f->sha256 : NULL,
		.size = f->size};
}

static int retire_file(struct retire_state *r, size_t i, struct err *e)
{
	const struct tombstones_file *f = &r->found.item[i];
	const struct operation_file file = file_of(f);
	int pinned = operation_report_pinned(r->operation, &file, false, e);
	if (pinned)
		return pinned < 0 ? -1 : 0;
	struct err why = ERR_INIT;
	struct tombstone stone = {.reason = r->reason,
		.when = r->now,
		.by = r->operation->who,
		.verdict = TOMBSTONE_RETIRED,
		.run = r->run,
		.project = f->project,
		.requires_python = f->requires_python,
		.size = (int64_t)f->size,
		.has_sha256 = f->has_sha256};
	memcpy(stone.sha256, f->sha256, SHA256_SIZE);
	if (r->options->is_dry) {
		operation_report(r->operation, f->platform, f->filename, OPERATION_WOULD, f->size, "");
		return 0;
	}
	int retired =
		sidecar_ops_remove(f->platform, r->operation->catalog, f->filename, f->folder, &stone, false, &why);
	r->is_unlisted[i] = retired == 0;
	operation_report(r->operation, f->platform, f->filename, retired < 0 ? OPERATION_FAILED : OPERATION_DONE,
		f->size, why.msg);
	return operation_audit(r->operation,
		&(struct operation_event){.platform = f->platform,
			.action = "retire",
			.project = f->project,
			.file = f->filename,
			.sha256 = file.sha256,
			.reason = r->options->reason,
			.failure = retired < 0 ? &why : NULL},
		e);
}

static int freeze_platform(struct retire_state *r, struct err *e)
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
	return operation_audit(r->operation,
		&(struct operation_event){.platform = r->platform, .action = "freeze", .reason = reason}, e);
}

// A file may have been promoted in the meantime. The platform is frozen, so it stays unlisted; a purge leaves its bytes.
static int look_for_new_pins(struct retire_state *r, const struct config *c, struct err *e)
{
	if (r->options->is_dry)
		return 0;
	if (pins_sync(c, r->operation->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < r->found.count; i++) {
		const struct operation_file file = file_of(&r->found.item[i]);
		if (r->is_unlisted[i] && operation_report_pinned(r->operation, &file, true, e) < 0)
			return -1;
	}
	return 0;
}

int retire(struct operation *x, const struct config *c, const struct platform *p, const struct retire_options *options,
	struct err *e)
{
	CLEANUP(tombstones_release) struct tombstones refused = {0};
	CLEANUP(retire_state_release)
	struct retire_state r = {.operation = x, .platform = p, .options = options, .now = clock_wall_seconds()};
	const struct tombstones_wanted wanted = {
		.glob = (const char *const *)&p->name, .globs = 1, .matches = is_quarantined_tombstone};
	r.run = arena_printf(&r.text, "retire-%s", p->name);
	r.reason = arena_printf(&r.text, "the platform was retired%s%s", *options->reason ? ": " : "", options->reason);
	if (pins_sync(c, x->catalog, e) < 0)
		return -1;
	if (!p->id)
		return err_set(e, ERR_NOT_FOUND, "platform %s is not in the catalog: run wheelcache index first",
			p->name);
	if (freeze_platform(&r, e) < 0 || find_files(&r, e) < 0 ||
		tombstones_load(&refused, x->store, x->catalog, &wanted, e) < 0)
		return -1;
	r.is_unlisted = ARENA_NEW(&r.text, bool, r.found.count);
	for (size_t i = 0; i < r.found.count; i++)
		if (!has_tombstone(&refused, &r.found.item[i]) && retire_file(&r, i, e) < 0)
			return -1;
	if (look_for_new_pins(&r, c, e) < 0)
		return -1;
	uint64_t failed = x->count[OPERATION_FAILED], kept = x->count[OPERATION_KEPT];
	if (!failed && kept)
		return err_set(e, ERR_CONFLICT,
			"views have %llu of its files, so these stay listed: demote them, then repeat this",
			(unsigned long long)kept);
	return failed ? err_set(e, ERR_IO, "%llu files are still listed", (unsigned long long)failed) : 0;
}

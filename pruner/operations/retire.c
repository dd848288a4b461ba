// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retire.h"

#include <string.h>

#include "builder/missing/kept-locks.h"
#include "lib/base/counted.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-row.h"
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
	const struct tombstones_file one = {
		.file = {r->platform, file->filename, r->name, folder, file->sha256, file->size},
		.requires_python = file->requires_python};
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
		if (strcmp(done->item[i].file.filename, f->file.filename) == 0 &&
			strcmp(done->item[i].file.folder, f->file.folder) == 0)
			return true;
	return false;
}

// Before anything is done.
static int check_retired_locks(struct retire_state *r, const struct config *c, struct err *e)
{
	size_t count = 0;
	const char *path = NULL, *filename = NULL;
	CLEANUP(kept_locks_release) struct kept_locks locks = {0};
	if (r->options->forces)
		return 0;
	if (kept_locks_read(c, r->now, NULL, &locks, e) < 0 || find_files(r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->found.count; i++) {
		const struct operation_file *f = &r->found.item[i].file;
		const char *lock = kept_locks_find(&locks, f->sha256);
		count += lock != NULL;
		filename = lock && !path ? f->filename : filename;
		path = path ? path : lock;
	}
	if (count)
		return err_set(e, ERR_CONFLICT,
			"lock files name %s, %s first (" KEPT_LOCKS_WORDS
			"): installs from them would fail. Nothing was done: --force retires it nevertheless",
			COUNTED(count, "file of it|files of it"), filename, path);
	tombstones_release(&r->found); // it is read again when no file can be added any more
	strset_release(&r->projects);
	return 0;
}

// --- retiring ---

static int retire_file(struct retire_state *r, size_t i, struct err *e)
{
	const struct tombstones_file *f = &r->found.item[i];
	struct err reported = ERR_INIT;
	int pinned = operation_report_pinned(r->operation, &f->file, false, e);
	if (pinned)
		return pinned < 0 ? -1 : 0;
	struct operation_unlisting u = {.stone = {.reason = r->reason,
						.when = r->now,
						.verdict = TOMBSTONE_RETIRED,
						.run = r->run,
						.requires_python = f->requires_python},
		.action = "retire",
		.reason = r->options->reason,
		.words = "",
		.is_dry = r->options->is_dry};
	int done = operation_unlist(r->operation, &f->file, &u, &reported, e);
	r->is_unlisted[i] = done > 0;
	return done < 0 ? -1 : 0;
}

static int freeze_platform(struct retire_state *r, struct err *e)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(SIZE_MAX / 2);
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
	const struct operation_file none = {.platform = r->platform};
	return operation_audit(r->operation, &none, "freeze", reason, NULL, e);
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
	if (check_retired_locks(&r, c, e) < 0 || freeze_platform(&r, e) < 0 || find_files(&r, e) < 0 ||
		tombstones_load(&refused, x->store, x->catalog, &wanted, e) < 0)
		return -1;
	r.is_unlisted = ARENA_NEW(&r.text, bool, r.found.count);
	for (size_t i = 0; i < r.found.count; i++)
		if (!has_tombstone(&refused, &r.found.item[i]) && retire_file(&r, i, e) < 0)
			return -1;
	// A file may have been promoted in the meantime. The platform is frozen, so it stays unlisted; a purge leaves
	// its bytes.
	if (!r.options->is_dry) {
		if (pins_sync(c, r.operation->catalog, e) < 0)
			return -1;
		for (size_t i = 0; i < r.found.count; i++)
			if (r.is_unlisted[i] &&
				operation_report_pinned(r.operation, &r.found.item[i].file, true, e) < 0)
				return -1;
	}
	uint64_t failed = x->count[OPERATION_FAILED], kept = x->count[OPERATION_KEPT];
	if (!failed && kept)
		return err_set(e, ERR_CONFLICT, "views have %s, then repeat this",
			COUNTED(kept,
				"of its files, so this stays listed: demote it|"
				"of its files, so these stay listed: demote them"));
	return failed ? err_set(e, ERR_IO, "%s still listed", COUNTED(failed, "file is|files are")) : 0;
}

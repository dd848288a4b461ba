// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/restore.h"

#include <string.h>

#include "lib/base/counted.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/publish/sidecar-ops.h"

struct restore_state {
	struct operation *operation;
	const struct restore_options *options;
	bool *is_found; // by options->file
};

static bool is_wanted_on(const struct restore_options *o, size_t file, const char *platform)
{
	return !o->on || !o->on[file] || strcmp(o->on[file], platform) == 0;
}

static bool is_named_file(const struct restore_state *r, const char *platform, const char *filename)
{
	bool found = false;
	for (size_t i = 0; i < r->options->files; i++)
		if (strcmp(r->options->file[i], filename) == 0 && is_wanted_on(r->options, i, platform))
			found = r->is_found[i] = true;
	return found;
}

static bool is_wanted_tombstone(void *ctx, const struct tombstones_file *file, const struct tombstone *stone)
{
	const struct restore_state *r = ctx;
	const char *run = r->options->run;
	return run ? stone->run && strcmp(stone->run, run) == 0
		   : is_named_file(r, file->file.platform->name, file->file.filename);
}

static void report_gone(struct restore_state *r, const struct tombstones_file *f, const struct tombstone *stone)
{
	const char *url = stone->upstream.url;
	CLEANUP(mem_free)
	char *words = url ? xasprintf("it was purged; upstream has %s", url) : xstrdup("its bytes are gone");
	struct operation_file gone = f->file;
	gone.size = 0;
	operation_report(r->operation, &gone, OPERATION_GONE, words);
}

// A failure is reported, and the other files are tried; -1 only where the audit log fails.
static int restore_file(struct restore_state *r, const struct tombstones_file *f, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(tombstone_release) struct tombstone stone;
	tombstone_read(str_from(f->text), &stone);
	struct operation_file file = f->file;
	file.sha256 = stone.has_sha256 ? stone.sha256 : file.sha256;
	if (!f->has_file) {
		report_gone(r, f, &stone);
		return 0;
	}
	if (!file.sha256)
		err_set(&why, ERR_INVALID, "its SHA-256 is not known");
	else if (sidecar_ops_restore(file.platform, r->operation->catalog, file.filename, file.folder, file.sha256, &why) ==
		 0)
		operation_report(r->operation, &file, OPERATION_DONE, "");
	if (why.kind == ERR_NOT_FOUND)
		report_gone(r, f, &stone);
	else if (why.kind)
		operation_report(r->operation, &file, OPERATION_FAILED, why.msg);
	return operation_audit(r->operation, &file, "restore", NULL, why.kind ? &why : NULL, e);
}

// A file that the catalog lists may have a tombstone that no scan has found yet.
static int restore_listed_file(struct restore_state *r, const struct platform *p, size_t i, struct err *e)
{
	struct err why = ERR_INIT;
	const char *file = r->options->file[i];
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (!p->id || catalog_find_file(r->operation->catalog, p->id, file, &place, &why) < 0 || place.is_unlisted) {
		if (why.kind == ERR_NONE || why.kind == ERR_NOT_FOUND)
			return 0;
		*e = why;
		return -1;
	}
	r->is_found[i] = true;
	int restored = sidecar_ops_restore(p, r->operation->catalog, file, NULL, place.sha256, &why);
	const struct operation_file of = {p, file, place.project, NULL, place.sha256, place.size};
	operation_report(r->operation, &of, restored < 0 ? OPERATION_FAILED : OPERATION_BEFORE, why.msg);
	return restored < 0 ? operation_audit(r->operation, &of, "restore", NULL, &why, e) : 0;
}

static int restore_listed_names(struct restore_state *r, struct err *e)
{
	const struct store *s = r->operation->store;
	const struct restore_options *o = r->options;
	for (size_t i = 0; i < s->platform_count; i++)
		for (size_t k = 0; k < o->files && store_is_wanted(o->glob, o->globs, s->platform[i].name); k++)
			if (is_wanted_on(o, k, s->platform[i].name) &&
				restore_listed_file(r, &s->platform[i], k, e) < 0)
				return -1;
	for (size_t k = 0; k < o->files; k++)
		if (!r->is_found[k])
			return o->on && o->on[k]
				       ? err_set(e, ERR_NOT_FOUND,
						 "platform %s has neither a file %s nor a tombstone of it", o->on[k],
						 o->file[k])
				       : err_set(e, ERR_NOT_FOUND, "no platform has a file %s, or a tombstone of it",
						 o->file[k]);
	return 0;
}

// For a run that has no tombstone. No error where it is the last plan, which the catalog has; otherwise the id is
// wrong, or all of its files are listed again.
static int check_run_is_known(const struct restore_state *r, struct err *e)
{
	struct err unsaid = ERR_INIT;
	const char *run = r->options->run;
	int64_t made;
	CLEANUP(buf_release) struct buf last, head;
	buf_init(&last, SIZE_MAX / 2);
	buf_init(&head, SIZE_MAX / 2);
	if (catalog_plan_last(r->operation->catalog, &last, &made, &head, &unsaid) == 0 && strcmp(last.data, run) == 0)
		return 0;
	return err_set(e, ERR_NOT_FOUND,
		"no file here was pruned by run %s: the id is wrong, or all of its files are listed again", run);
}

int restore(struct operation *x, const struct restore_options *options, struct err *e)
{
	CLEANUP(mem_free) bool *is_found = xcalloc(options->files + 1, sizeof(*is_found));
	CLEANUP(tombstones_release) struct tombstones tombstones;
	struct restore_state r = {x, options, is_found};
	const struct tombstones_wanted wanted = {
		.glob = options->glob, .globs = options->globs, .matches = is_wanted_tombstone, .ctx = &r};
	if (tombstones_load(&tombstones, x->store, x->catalog, &wanted, e) < 0 || restore_listed_names(&r, e) < 0)
		return -1;
	if (options->run && !tombstones.count && check_run_is_known(&r, e) < 0)
		return -1;
	for (size_t i = 0; i < tombstones.count; i++)
		if (restore_file(&r, &tombstones.item[i], e) < 0)
			return -1;
	uint64_t lost = x->count[OPERATION_GONE] + x->count[OPERATION_FAILED];
	if (operation_end(x, e) < 0)
		return -1;
	return lost ? err_set(e, ERR_NOT_FOUND, "%s could not be restored", COUNTED(lost, "file|files")) : 0;
}

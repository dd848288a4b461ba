// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/operation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/volume-release.h"
#include "pruner/plan/pins.h"

int operation_begin(struct operation *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e)
{
	*x = (struct operation){.store = store, .catalog = catalog, .audit = audit, .who = who};
	x->is_written = xcalloc(store->platform_count + 1, sizeof(*x->is_written));
	CLEANUP(mem_free) char *path = xasprintf("%s.prune", catalog_path(catalog));
	x->lock = safefile_lock(path, false, who, e);
	if (x->lock < 0 && e->kind == ERR_BUSY)
		return err_prefix(e, "another prune, purge, restore or retain is under way: ");
	return x->lock < 0 ? -1 : 0;
}

void operation_release(struct operation *x)
{
	mem_close(&x->lock);
	free(x->is_written);
	x->is_written = NULL;
}

void operation_report(struct operation *x, const struct operation_file *f, enum operation_result result, const char *words)
{
	x->count[result]++;
	x->bytes[result] += f->size;
	if (x->report)
		x->report(x->report_ctx, f->platform, f->filename, result, f->size, words);
}

int operation_audit(struct operation *x, const struct operation_file *f, const char *action, const char *reason,
	const struct err *failure, struct err *e)
{
	char digits[SHA256_HEX + 1] = "";
	if (f->sha256)
		hex_encode(f->sha256, SHA256_SIZE, digits);
	if (!failure)
		x->is_written[f->platform - x->store->platform] = true;
	const struct audit_entry entry = {.who = x->who,
		.action = action,
		.platform = f->platform->name,
		.project = f->project,
		.file = f->filename,
		.sha256 = f->sha256 ? digits : NULL,
		.result = failure ? "failed" : "done",
		.reason = failure ? failure->msg : reason};
	return audit_write(x->audit, &entry, e);
}

int operation_unlist(struct operation *x, const struct operation_file *f, struct operation_unlisting *u, struct err *trouble,
	struct err *e)
{
	struct err why = ERR_INIT;
	struct tombstone *stone = &u->stone;
	if (u->is_dry) {
		operation_report(x, f, OPERATION_WOULD, u->words);
		return 0;
	}
	stone->by = x->who;
	stone->project = f->project;
	stone->size = (int64_t)f->size;
	stone->has_sha256 = f->sha256 != NULL;
	if (f->sha256)
		memcpy(stone->sha256, f->sha256, SHA256_SIZE);
	int done = u->has_changed ? err_set(&why, ERR_CONFLICT, "it changed or disappeared after the recheck")
				  : sidecar_ops_remove(f->platform, x->catalog, f->filename, f->folder, stone, false, &why);
	operation_report(x, f, done < 0 ? OPERATION_FAILED : OPERATION_DONE, done < 0 ? why.msg : u->words);
	if (done < 0)
		*trouble = why;
	return operation_audit(x, f, u->action, u->reason, done < 0 ? &why : NULL, e) < 0 ? -1 : done == 0;
}

static int release_platform(const struct operation *x, const struct platform *p, struct err *e)
{
	const _Atomic int64_t end_ms = clock_ms() + (int64_t)p->release_timeout * 1000;
	int released = volume_release_run(catalog_path(x->catalog), p, &end_ms, true, e);
	if (released == 0)
		return 0; // a server has released it meanwhile
	const struct audit_entry entry = {.who = x->who,
		.action = "release",
		.platform = p->name,
		.result = released < 0 ? "failed" : "done",
		.reason = released < 0 ? e->msg : NULL};
	struct err unwritten = ERR_INIT;
	int written = audit_write(x->audit, &entry, released < 0 ? &unwritten : e);
	if (released < 0)
		err_prefix(e, "platform %s: all changes are made, but it is not released: ", p->name);
	return released < 0 || written < 0 ? -1 : 0;
}

// Also releases platforms that an earlier operation wrote and could not release.
int operation_end(struct operation *x, struct err *e)
{
	int result = 0;
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		int64_t since;
		struct err why = ERR_INIT;
		if (!p->release || !(x->is_written[i] || volume_release_is_wanted(catalog_path(x->catalog), p, &since)))
			continue;
		if (release_platform(x, p, &why) < 0) {
			*e = why;
			result = -1;
		}
	}
	return result;
}

char *operation_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
}

// --- files that views have ---

static int find_view_of(struct operation *x, const struct operation_file *f, char **view, struct err *e)
{
	return f->sha256 ? pins_find(x->catalog, f->platform->id, f->filename, f->sha256, view, e) : 0;
}

int operation_report_pinned(struct operation *x, const struct operation_file *f, bool is_late, struct err *e)
{
	CLEANUP(mem_free) char *view = NULL;
	if (find_view_of(x, f, &view, e) < 0)
		return -1;
	if (!view)
		return 0;
	CLEANUP(mem_free)
	char *words = is_late ? xasprintf("it was promoted into view %s: wheelcache demote first", view)
			      : xasprintf(PINS_WORDS, view);
	operation_report(x, f, is_late ? OPERATION_FAILED : OPERATION_KEPT, words);
	return 1;
}

int operation_relist_pinned(struct operation *x, const struct operation_file *f, struct err *trouble, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *view = NULL;
	if (find_view_of(x, f, &view, e) < 0)
		return -1;
	if (!view)
		return 0;
	CLEANUP(mem_free) char *words = xasprintf(PINS_WORDS, view);
	bool is_listed = sidecar_ops_restore(f->platform, x->catalog, f->filename, f->folder, f->sha256, &why) == 0;
	operation_report(x, f, is_listed ? OPERATION_KEPT : OPERATION_FAILED, is_listed ? words : why.msg);
	if (!is_listed)
		*trouble = why;
	return operation_audit(x, f, "restore", words, is_listed ? NULL : &why, e) < 0 ? -1 : is_listed;
}

// --- tombstones ---

struct tombstones_load_state {
	struct tombstones *tombstones;
	const struct tombstones_wanted *wanted;
	const struct platform *platform;
};

void tombstones_add(struct tombstones *t, const struct tombstones_file *found)
{
	ARENA_GROW(&t->text, t->item, t->count, t->room);
	struct tombstones_file *one = &t->item[t->count++];
	*one = *found;
	struct operation_file *f = &one->file;
	const char **const kept[] = {&f->filename, &f->folder, &f->project, &one->text, &one->version,
		&one->requires_python, &one->refusal};
	if (f->sha256)
		f->sha256 = arena_memdup(&t->text, f->sha256, SHA256_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		*kept[i] = arena_strdup(&t->text, *kept[i]);
}

static int add_marked_file(void *ctx, const struct catalog_marked *mark, struct err *e UNUSED)
{
	const struct tombstones_load_state *l = ctx;
	struct tombstones_file one = {
		.file = {l->platform, mark->filename, mark->project, mark->folder_path, mark->sha256, mark->size},
		.text = mark->text ? mark->text : mark->reason,
		.has_file = mark->has_file,
		.mtime_ns = mark->mtime_ns,
		.version = mark->version,
		.requires_python = mark->requires_python,
		.refusal = mark->refusal,
	};
	CLEANUP(tombstone_release) struct tombstone stone;
	tombstone_read(str_from(one.text), &stone);
	if (!l->wanted->matches || l->wanted->matches(l->wanted->ctx, &one, &stone))
		tombstones_add(l->tombstones, &one);
	return 0;
}

int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e)
{
	size_t platforms = 0;
	*out = (struct tombstones){0};
	for (size_t i = 0; i < store->platform_count; i++) {
		struct tombstones_load_state l = {out, wanted, &store->platform[i]};
		if (!store_is_wanted(wanted->glob, wanted->globs, l.platform->name))
			continue;
		platforms++;
		if (l.platform->id && catalog_marks(catalog, l.platform->id, MARK_PRUNED, add_marked_file, &l, e) < 0)
			return -1;
	}
	return platforms || !wanted->globs ? 0 : store_refuse_platform(store, wanted->glob[0], ERR_NOT_FOUND, e);
}

void tombstones_release(struct tombstones *t)
{
	arena_release(&t->text);
	*t = (struct tombstones){0};
}

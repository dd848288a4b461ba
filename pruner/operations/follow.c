// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/follow.h"

#include "lib/base/limits.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/sidecar.h"
#include "pruner/operations/operation.h"

// One step that is being done.
struct follow_step_state {
	const struct upstream_diff_step *step;
	struct catalog *catalog;
	bool is_skipped; // it is already done, or an operator's mark is there
};

// Reads the yank mark from the writable volume: the catalog does not know a mark that is not released yet. 1: there is
// one; 0: none; -1: error.
static int read_written_yank(const struct follow_step_state *d, struct buf *text, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(d->catalog, s->platform->id, s->filename, &place, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = operation_folder(place.path);
	CLEANUP(mem_close) int fd = store_open_writable_folder(s->platform, folder, e);
	return fd < 0 ? -1 : sidecar_read(fd, s->filename, MARK_YANKED, text, e);
}

static int relist_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	if (!s->has_sha256)
		return err_set(e, ERR_CONFLICT, "its tombstone has no SHA-256");
	return sidecar_ops_restore(s->platform, d->catalog, s->filename, s->folder, s->sha256, e);
}

static int yank_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_SIDECAR);
	int found = read_written_yank(d, &text, e);
	if (found < 0)
		return -1;
	d->is_skipped =
		found && (!mark_is_from_upstream(buf_view(&text)) || str_eq(buf_view(&text), str_from(s->text)));
	return d->is_skipped ? 0 : sidecar_ops_yank(s->platform, d->catalog, s->filename, s->text, e);
}

static int unyank_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_SIDECAR);
	int found = read_written_yank(d, &text, e);
	if (found < 0)
		return -1;
	d->is_skipped = !found || !mark_is_from_upstream(buf_view(&text));
	return d->is_skipped ? 0 : sidecar_ops_unyank(s->platform, d->catalog, s->filename, e);
}

static const struct {
	int (*fn)(struct follow_step_state *d, struct err *e); // NULL: there is nothing to do
	const char *action;                                    // for the audit log
} step_actions[UPSTREAM_DIFF_COUNT] = {
	[UPSTREAM_DIFF_RELIST] = {relist_file, "restore"},
	[UPSTREAM_DIFF_LOST] = {NULL, NULL},
	[UPSTREAM_DIFF_YANK] = {yank_file, "yank"},
	[UPSTREAM_DIFF_UNYANK] = {unyank_file, "unyank"},
};

struct follow_state {
	struct catalog *catalog;
	const struct upstream_diff *diff;
	const struct follow_options *options;
	struct operation *operation; // NULL in a dry run
	struct follow_counts *counts;
};

static void report_step(const struct follow_state *r, enum follow_result result, const struct platform *p,
	const struct upstream_diff_step *s, const char *why)
{
	r->counts->of[result]++;
	if (result == FOLLOW_DONE)
		r->counts->done[s->kind]++;
	r->options->report(r->options->ctx, result, p, s, why);
}

static int run_step(const struct follow_state *r, const struct upstream_diff_step *s, struct err *e)
{
	struct err why = ERR_INIT;
	struct follow_step_state d = {.step = s, .catalog = r->catalog};
	bool is_done = step_actions[s->kind].fn(&d, &why) == 0;
	const struct operation_event event = {.platform = s->platform,
		.action = step_actions[s->kind].action,
		.project = s->project,
		.file = s->filename,
		.sha256 = s->has_sha256 ? s->sha256 : NULL,
		.reason = s->reason,
		.failure = is_done ? NULL : &why};
	if (!d.is_skipped && operation_audit(r->operation, &event, e) < 0)
		return -1;
	enum follow_result result = !is_done ? FOLLOW_FAILED : d.is_skipped ? FOLLOW_SKIPPED : FOLLOW_DONE;
	report_step(r, result, s->platform, s, is_done ? s->reason : why.msg);
	return 0;
}

// Runs all steps of one platform, whose freeze is checked once.
static int run_steps_of_platform(const struct follow_state *r, const struct platform *p, struct err *e)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(buf_release) struct buf frozen;
	buf_init(&frozen, 2 * LIMIT_WORDS);
	int is_held = freeze_is(p, &frozen, &unsaid); // on an error the first step fails
	for (size_t i = 0; i < r->diff->count; i++) {
		const struct upstream_diff_step *s = &r->diff->step[i];
		if (s->platform != p)
			continue;
		if (s->kind == UPSTREAM_DIFF_LOST)
			report_step(r, FOLLOW_LOST, p, s, s->reason);
		else if (is_held > 0)
			report_step(r, FOLLOW_HELD, p, s, frozen.data);
		else if (!r->operation)
			report_step(r, FOLLOW_DONE, p, s, s->reason);
		else if (run_step(r, s, e) < 0)
			return -1;
	}
	return 0;
}

static bool has_steps_on(const struct upstream_diff *f, const struct platform *p)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->step[i].platform == p)
			return true;
	return false;
}

static int run_all_steps(const struct follow_state *r, const struct store *store, struct err *e)
{
	for (size_t i = 0; i < store->platform_count; i++)
		if (has_steps_on(r->diff, &store->platform[i]) && run_steps_of_platform(r, &store->platform[i], e) < 0)
			return -1;
	return 0;
}

int follow_run(const struct store *store, struct catalog *c, const struct upstream_diff *f,
	const struct follow_options *o, struct follow_counts *out, struct err *e)
{
	*out = (struct follow_counts){0};
	struct follow_state r = {.catalog = c, .diff = f, .options = o, .counts = out};
	if (o->is_dry_run)
		return run_all_steps(&r, store, e);
	CLEANUP(operation_release) struct operation operation;
	r.operation = &operation;
	if (operation_begin(&operation, store, c, o->audit, o->who, e) < 0 || run_all_steps(&r, store, e) < 0)
		return -1;
	return operation_end(&operation, e);
}

// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "promoter/left-reason.h"
#include "promoter/pruned-rows.h"
#include "promoter/promotion-run.h"
#include "promoter/view-change.h"
#include "lib/state/store/wanted-contents.h"

// --- evidence ---

// Whether evidence that is given with the request counts for the view.
static bool counts_given(const struct promote_request *r)
{
	struct str rest = str_from(r->evidence_views);
	while (rest.ptr) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *glob = xstrndup(word.ptr, word.len);
		if (fnmatch(glob, r->to, 0) == 0)
			return true;
	}
	return false;
}

// 1: it is new; 0: it was there.
static int keep_record(const struct promotion_run *run, const struct evidence *record, struct catalog_evidence *note,
	struct err *e)
{
	note->by = run->request->by;
	note->address = run->request->address;
	return evidence_file_add(run->folder, run->catalog, record, note, e);
}

// Whatever order the request has, so that the names of files or a list decide nothing.
static void sort_given(struct promotion_run *run)
{
	const struct promote_request *r = run->request;
	run->given = xcalloc(r->evidences + 1, sizeof(*run->given));
	for (size_t i = 0; i < r->evidences; i++)
		run->given[i] = r->evidence[i];
	qsort(run->given, r->evidences, sizeof(*run->given), evidence_compare);
}

static int take_evidence(struct promotion_run *run, struct err *e)
{
	const struct promote_request *r = run->request;
	sort_given(run);
	if (r->dry_run && counts_given(r) && promote_evidence_give(&run->evidence, run->given, r->evidences, e) < 0)
		return -1;
	if (r->dry_run)
		return 0;
	for (size_t i = 0; i < r->evidences; i++) {
		struct catalog_evidence note = {.views = r->evidence_views};
		int added = keep_record(run, &run->given[i], &note, e);
		if (added < 0 || (added && r->hooks &&
					 view_change_tell(&run->site->config, run->catalog, &run->given[i], &note,
						 r->hooks, e) < 0))
			return -1;
	}
	return 0;
}

// --- overrides ---

// The arguments of add_lack.
struct lacking_row {
	struct promotion_run *run;
	size_t row;
};

static void add_lack(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell)
{
	const struct lacking_row *l = ctx;
	struct promotion_run *run = l->run;
	GROW(run->lack, run->lacks, run->lack_room);
	run->lack[run->lacks++] = (struct promotion_lack){rule->kind, *cell, l->row};
}

static int by_kind_and_cell(const void *a, const void *b)
{
	const struct promotion_lack *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);
	order = order ? order : strcmp(x->cell.platform, y->cell.platform);
	order = order ? order : strcmp(x->cell.python, y->cell.python);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static bool is_same_place(const struct promotion_lack *a, const struct promotion_lack *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->cell.platform, b->cell.platform) == 0 &&
	       strcmp(a->cell.python, b->cell.python) == 0;
}

// One record for the wheels that lack the same kind in the same cell.
static int keep_override(struct promotion_run *run, const struct promotion_lack *lack, size_t lacks, int64_t now,
	struct err *e)
{
	CLEANUP(mem_free) struct evidence_wheel *wheel = xcalloc(lacks, sizeof(*wheel));
	const struct evidence record = {.kind = lack->kind,
		.platform = lack->cell.platform,
		.python = lack->cell.python,
		.made = now,
		.overrides = run->request->override,
		.wheel = wheel,
		.wheels = lacks};
	for (size_t i = 0; i < lacks; i++) {
		const struct promote_row *row = &run->answer->row[lack[i].row];
		wheel[i].filename = row->filename;
		memcpy(wheel[i].sha256, row->sha256, SHA256_SIZE);
	}
	struct catalog_evidence note = {.views = run->request->to};
	if (keep_record(run, &record, &note, e) < 0)
		return -1;
	promote_evidence_add(&run->evidence, note.id);
	return 0;
}

// A record has each file name once.
static bool has_same_name(const struct promotion_run *run, const struct promotion_lack *a, const struct promotion_lack *b)
{
	return strcmp(run->answer->row[a->row].filename, run->answer->row[b->row].filename) == 0;
}

static int keep_overrides(struct promotion_run *run, int64_t now, struct err *e)
{
	if (run->lacks)
		qsort(run->lack, run->lacks, sizeof(*run->lack), by_kind_and_cell);
	for (size_t from = 0, to; from < run->lacks; from = to) {
		for (to = from + 1; to < run->lacks && to - from < LIMIT_EVIDENCE_WHEELS &&
				    is_same_place(&run->lack[from], &run->lack[to]) &&
				    !has_same_name(run, &run->lack[to - 1], &run->lack[to]);)
			to++;
		if (keep_override(run, &run->lack[from], to - from, now, e) < 0)
			return -1;
	}
	return 0;
}

// --- the decision ---

static void drop_lacks(struct promotion_run *run, size_t row)
{
	size_t kept = 0;
	for (size_t i = 0; i < run->lacks; i++)
		if (run->lack[i].row != row)
			run->lack[kept++] = run->lack[i];
	run->lacks = kept;
}

static void judge_row(struct promotion_run *run, size_t i)
{
	CLEANUP(buf_release) struct buf why;
	struct promote_row *row = &run->answer->row[i];
	const struct promotion_candidate *c = &run->candidate[i];
	struct promotion_rival rival = {run, i};
	const struct promotion_file file = {row->platform, row->filename, c->requires_python, row->sha256,
		promotion_rival_covers, &rival};
	struct lacking_row lacking = {run, i};
	buf_init(&why, 2 * LIMIT_REASON);
	if (c->is_covered)
		drop_lacks(run, i);
	run->candidate[i].is_covered = false;
	promote_evidence_begin(&run->evidence);
	promote_answer_set(run->answer, row, row->result, STR(""));
	promote_answer_set_tested(run->answer, row, NULL, 0);
	if (promotion_judge_allows(&run->judge, &file, &why)) {
		row->result = PROMOTE_DONE;
		row->is_override = run->evidence.has_override;
		promote_answer_set_tested(run->answer, row, run->evidence.build, run->evidence.file_builds);
		if (run->is_settled || !c->is_covered)
			promote_evidence_keep(&run->evidence);
	} else if (run->request->override && promotion_judge_lacks(&run->judge, &file, add_lack, &lacking)) {
		row->result = PROMOTE_DONE;
		row->is_override = true;
		if (run->is_settled || !c->is_covered)
			promote_evidence_keep(&run->evidence);
	} else {
		promotion_run_hide_cell(run, row, &why);
		promote_answer_set(run->answer, row, PROMOTE_REFUSED, buf_view(&why));
	}
}

// 1: the view has it, or it left, and the row says so; 0: it is to be judged.
static int decide_by_membership(struct promotion_run *run, size_t i, struct err *e)
{
	struct promote_row *row = &run->answer->row[i];
	int64_t platform = run->candidate[i].platform->id;
	int has = catalog_view_has(run->catalog, run->request->to, run->generation, platform, row->filename,
		row->sha256, e);
	if (has)
		row->result = PROMOTE_ALREADY;
	if (has || promotion_run_names(run, row))
		return has;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_REASON + LIMIT_FILE_NAME);
	int left = left_reason(run->catalog, run->request->to, platform, row->filename, row->sha256, &why, e);
	if (left > 0)
		promote_answer_set(run->answer, row, PROMOTE_LEFT, buf_view(&why));
	return left;
}

static int decide_row(struct promotion_run *run, size_t i, struct err *e)
{
	int is_decided = decide_by_membership(run, i, e);
	if (is_decided)
		return is_decided < 0 ? -1 : 0;
	judge_row(run, i);
	if (!run->evidence.has_failed)
		return 0;
	*e = run->evidence.why;
	return -1;
}

static int judge_covered(struct promotion_run *run, bool *has_changed, struct err *e)
{
	*has_changed = false;
	for (size_t i = 0; i < run->answer->rows; i++) {
		struct promote_row *row = &run->answer->row[i];
		if (row->result != PROMOTE_DONE || !run->candidate[i].is_covered)
			continue;
		if (promotion_run_check_time(run, e) < 0)
			return -1;
		judge_row(run, i);
		*has_changed |= row->result != PROMOTE_DONE;
	}
	if (!run->evidence.has_failed)
		return 0;
	*e = run->evidence.why;
	return -1;
}

// A file that another one kept from a cell is judged again, until no refusal changes another row.
static int decide_each_row(struct promotion_run *run, struct err *e)
{
	bool ignored;
	run->is_settled = false;
	for (size_t i = 0; i < run->answer->rows; i++)
		if (promotion_run_check_time(run, e) < 0 || decide_row(run, i, e) < 0)
			return -1;
	for (bool has_changed = true; has_changed;)
		if (judge_covered(run, &has_changed, e) < 0)
			return -1;
	run->is_settled = true;
	return judge_covered(run, &ignored, e);
}

// One refusal holds all.
static void hold_all(struct promote_answer *a, const char *reason)
{
	for (size_t i = 0; i < a->rows; i++)
		if (a->row[i].result == PROMOTE_DONE)
			promote_answer_set(a, &a->row[i], PROMOTE_HELD, str_from(reason));
	promote_answer_count(a);
}

// Reads one snapshot of the catalog.
static int decide_rows(struct promotion_run *run, struct err *e)
{
	CLEANUP(catalog_read_end) struct catalog *reading = NULL;
	if (catalog_read_begin(run->catalog, e) < 0)
		return -1;
	reading = run->catalog;
	if (promotion_run_generation(run->catalog, run->request->to, &run->generation, e) < 0 ||
		promotion_run_collect(run, e) < 0)
		return -1;
	if (run->request->newest)
		promotion_run_keep_newest(run);
	run->evidence.all.count = run->evidence.all.sorted = 0;
	if (decide_each_row(run, e) < 0)
		return -1;
	promotion_run_mark_twins(run);
	promotion_run_mark_overtaken(run);
	if (run->request->all_or_nothing && promotion_run_add_chain(run, e) < 0)
		return -1;
	promote_answer_count(run->answer);
	if (run->request->all_or_nothing && run->answer->count[PROMOTE_REFUSED])
		hold_all(run->answer, "another file is refused, and all or nothing is promoted");
	run->answer->generation = run->generation;
	return 0;
}

// --- writing ---

// An override is written before the generation that stands on it. The next try, if there is one, finds it as evidence.
static int write_rows(struct promotion_run *run, int64_t now, struct err *e)
{
	const struct promote_request *r = run->request;
	if (r->dry_run || !run->answer->count[PROMOTE_DONE])
		return 0;
	if (keep_overrides(run, now, e) < 0)
		return -1;
	promote_evidence_finish(&run->evidence);
	const struct promotion_step step = {.folder = run->folder,
		.view = r->to,
		.generation = run->generation,
		.action = "promote",
		.by = r->by,
		.address = r->address,
		.reason = r->reason,
		.evidence = &run->evidence.all};
	return promotion_step_write(&step, run->catalog, run->answer, e);
}

static int decide_and_write(struct promotion_run *run, int64_t now, struct err *e)
{
	const struct promote_request *r = run->request;
	unsigned most_ms = r->cpu_ms ? LIMIT_CONTENTS_MS : 0;
	if (r->dry_run) // writes nothing, also no digest
		run->evidence.builds.store = &run->site->store;
	else if (promotion_run_refresh(run->folder, run->catalog, r->to, e) < 0 ||
		 wanted_contents_take(&run->site->store, run->catalog, most_ms, NULL, e) < 0)
		return -1;
	for (int tries = 1;; tries++) {
		struct err why = ERR_INIT;
		if (decide_rows(run, &why) == 0 && write_rows(run, now, &why) == 0)
			return 0;
		if (why.kind == ERR_CONFLICT && tries < PROMOTION_TRIES)
			continue;
		*e = why;
		return -1;
	}
}

static int take_out_pruned(struct promotion_run *run, struct err *e)
{
	const struct promote_request *r = run->request;
	if (!run->answer->count[PROMOTE_DONE])
		return 0;
	const struct promotion_step step = {.folder = run->folder,
		.view = r->to,
		.action = "promote",
		.by = r->by,
		.address = r->address,
		.reason = "a prune removes the files at the same moment"};
	return pruned_rows_take_out(run->site, run->catalog, &step, r->all_or_nothing, run->answer, e);
}

static int init_judge(struct promotion_run *run, int64_t now, struct err *e)
{
	const struct config_view *v = run->config;
	if (promotion_judge_init(&run->judge, v->requires, v->cells, run->source.platform, run->source.platform_count,
		    now, promote_evidence_find, &run->evidence, e) < 0)
		return err_prefix(e, "view %s: ", v->name);
	return 0;
}

// The first error counts.
static int finish_promotion(struct promotion_run *run, struct audit *audit, struct err *e)
{
	const struct promote_request *r = run->request;
	struct err unlogged = ERR_INIT;
	int looked = take_out_pruned(run, e);
	int logged = promote_answer_audit(run->answer, audit, "promote", r->to, r->by, r->address, r->reason,
		looked < 0 ? &unlogged : e);
	return looked < 0 || logged < 0 ? -1 : 0;
}

int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e)
{
	CLEANUP(promotion_run_release) struct promotion_run run;
	*out = (struct promote_answer){0};
	if (promotion_run_init(&run, site, c, r, out, e) < 0 || promotion_run_check_reason(r->reason, e) < 0 ||
		(r->override && promotion_run_check_reason(r->override, e) < 0) || init_judge(&run, now, e) < 0 ||
		take_evidence(&run, e) < 0 || decide_and_write(&run, now, e) < 0)
		return -1;
	if (!r->dry_run && finish_promotion(&run, audit, e) < 0)
		return -1;
	promote_answer_shorten(out);
	return 0;
}

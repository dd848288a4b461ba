// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/views-sync.h"
#include "promoter/promotion-run.h"
#include "promoter/view-change.h"

// How often a generation is tried anew. Each time another writer was faster, so that work goes on in any case.
enum { MOST_TRIES = 1000 };
#define HELD "another file is refused, and all or nothing is promoted"

// --- generations ---

static int refuse_damaged(const char *view, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"the membership of view %s is not known as a whole: wheelcache check names damaged files, and wheelcache "
		"index reads the membership",
		view);
}

int promotion_refresh(const char *folder, struct catalog *c, const char *view, struct err *e)
{
	struct views_sync_counts counts = {0};
	int is_whole = views_sync_view(folder, view, c, NULL, NULL, &counts, e);
	return is_whole > 0 ? 0 : is_whole < 0 ? -1 : refuse_damaged(view, e);
}

int promotion_generation(struct catalog *c, const char *view, int64_t *generation, struct err *e)
{
	struct catalog_view known;
	if (catalog_view_find(c, view, &known, e) < 0)
		return -1;
	*generation = known.generation;
	return known.is_damaged ? refuse_damaged(view, e) : 0;
}

int promotion_step_write(const struct promotion_step *step, struct catalog *c, struct promote_answer *answer,
	struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct membership_file *add = ARENA_NEW(&room, struct membership_file, answer->rows);
	struct membership_file *end = ARENA_NEW(&room, struct membership_file, answer->rows);
	struct membership_change m = {.view = step->view,
		.generation = step->generation + 1,
		.action = step->action,
		.by = step->by,
		.address = step->address,
		.reason = step->reason,
		.add = add,
		.remove = end};
	if (step->evidence) {
		m.evidence = (const uint8_t(*)[SHA256_SIZE])step->evidence->id;
		m.evidences = step->evidence->count;
	}
	for (size_t i = 0; i < answer->rows; i++) {
		const struct promote_row *row = &answer->row[i];
		if (row->result != PROMOTE_DONE && row->result != PROMOTE_ENDED)
			continue;
		struct membership_file *file = row->result == PROMOTE_DONE ? &add[m.adds++] : &end[m.removes++];
		*file = (struct membership_file){.platform = row->platform,
			.project = row->project,
			.filename = row->filename,
			.tested = row->tested,
			.testeds = row->testeds};
		memcpy(file->sha256, row->sha256, SHA256_SIZE);
	}
	if (membership_append(step->folder, c, &m, e) < 0)
		return -1;
	answer->generation = m.generation;
	return 0;
}

int promotion_try(promotion_try_fn *fn, void *ctx, struct err *e)
{
	for (int tries = 1;; tries++) {
		struct err why = ERR_INIT;
		if (fn(ctx, &why) == 0)
			return 0;
		if (why.kind == ERR_CONFLICT && tries < MOST_TRIES)
			continue;
		*e = why;
		return -1;
	}
}

// --- the evidence on which files stand ---

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_SIZE);
}

static void sort_ids(struct evidence_ids *s)
{
	size_t kept = 0;
	if (s->count)
		qsort(s->id, s->count, sizeof(*s->id), compare_ids);
	for (size_t i = 0; i < s->count; i++)
		if (!kept || memcmp(s->id[kept - 1], s->id[i], SHA256_SIZE) != 0)
			memmove(s->id[kept++], s->id[i], SHA256_SIZE);
	s->count = s->sorted = kept;
}

// Sorts now and then, so that many files with the same records need little memory.
static void add_id(struct evidence_ids *s, const uint8_t id[SHA256_SIZE])
{
	if (s->count >= 2 * s->sorted + 1024)
		sort_ids(s);
	GROW(s->id, s->count, s->room);
	memcpy(s->id[s->count++], id, SHA256_SIZE);
}

// Notes that the file stands on a record about another build.
static void note_build(struct promotion_run *run, const struct promotion_record *r)
{
	for (size_t i = 0; i < run->builds; i++)
		if (run->build[i].match == r->match && memcmp(run->build[i].sha256, r->tested, SHA256_SIZE) == 0)
			return;
	if (r->match == PROMOTION_SAME_BYTES)
		return;
	ARENA_GROW(&run->text, run->build, run->builds, run->build_room);
	run->build[run->builds].match = r->match;
	memcpy(run->build[run->builds++].sha256, r->tested, SHA256_SIZE);
}

// For the judge.
static bool find_evidence(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct promotion_run *run = ctx;
	struct evidence_found found;
	int is_found =
		run->has_failed ? -1 : evidence_search_find(&run->search, wheel, rule, cell, &found, &run->why);
	run->has_failed = is_found < 0;
	if (is_found < 0)
		return false;
	*out = found.record;
	if (!is_found)
		return false;
	if (!found.is_given)
		add_id(&run->file, found.id);
	run->has_override |= out->overrides != NULL;
	note_build(run, out);
	return true;
}

// --- evidence that is given with the request ---

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

// A dry run only looks at it; it is kept otherwise. In the order of evidence_compare(), whatever order the request has,
// so that the names of files or a list decide nothing.
static int note_evidence(struct promotion_run *run, struct err *e)
{
	const struct promote_request *r = run->request;
	struct evidence *given = ARENA_NEW(&run->own, struct evidence, r->evidences);
	for (size_t i = 0; i < r->evidences; i++)
		given[i] = r->evidence[i];
	qsort(given, r->evidences, sizeof(*given), evidence_compare);
	if (r->dry_run)
		return counts_given(r) ? evidence_search_give(&run->search, given, r->evidences, e) : 0;
	for (size_t i = 0; i < r->evidences; i++) {
		struct catalog_evidence note = {.views = r->evidence_views};
		int added = keep_record(run, &given[i], &note, e);
		if (added < 0 || (added && r->hooks &&
					 view_change_tell(&run->site->config, run->catalog, &given[i], &note, r->hooks,
						 e) < 0))
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
	ARENA_GROW(&run->text, run->lack, run->lacks, run->lack_room);
	run->lack[run->lacks++] = (struct missing_evidence){rule->kind, *cell, l->row};
}

static int compare_places(const struct missing_evidence *x, const struct missing_evidence *y)
{
	int order = strcmp(x->kind, y->kind);
	order = order ? order : strcmp(x->cell.platform, y->cell.platform);
	return order ? order : strcmp(x->cell.python, y->cell.python);
}

static int by_place_and_row(const void *a, const void *b)
{
	const struct missing_evidence *x = a, *y = b;
	int order = compare_places(x, y);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int keep_override(struct promotion_run *run, const struct missing_evidence *lack, size_t lacks, int64_t now,
	struct err *e)
{
	struct evidence_wheel *wheel = ARENA_NEW(&run->text, struct evidence_wheel, lacks);
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
	add_id(&run->all, note.id);
	return 0;
}

// One record for the wheels that lack the same kind in the same cell. A record has each file name once.
static int keep_overrides(struct promotion_run *run, int64_t now, struct err *e)
{
	const struct promote_row *row = run->answer->row;
	struct missing_evidence *lack = run->lack;
	size_t kept = 0;
	for (size_t i = 0; i < run->lacks; i++)
		if (row[lack[i].row].result == PROMOTE_DONE) // not held after all
			lack[kept++] = lack[i];
	run->lacks = kept;
	if (run->lacks)
		qsort(run->lack, run->lacks, sizeof(*lack), by_place_and_row);
	for (size_t from = 0, to; from < run->lacks; from = to) {
		for (to = from + 1; to < run->lacks && to - from < LIMIT_EVIDENCE_WHEELS &&
				    compare_places(&lack[from], &lack[to]) == 0 &&
				    strcmp(row[lack[to - 1].row].filename, row[lack[to].row].filename) != 0;)
			to++;
		if (keep_override(run, &lack[from], to - from, now, e) < 0)
			return -1;
	}
	return 0;
}

// --- the decision ---

static void judge_row(struct promotion_run *run, size_t i)
{
	struct promote_row *row = &run->answer->row[i];
	struct promotion_candidate *c = &run->candidate[i];
	struct promotion_rival rival = {run, i};
	struct lacking_row lacking = {run, i};
	const struct promotion_file file = {.platform = row->platform,
		.filename = row->filename,
		.requires_python = c->requires_python,
		.sha256 = row->sha256,
		.covers = promotion_rival_covers,
		.covers_ctx = &rival};
	CLEANUP(buf_release) struct buf why = buf_up_to(2 * LIMIT_REASON);
	size_t kept = 0;
	for (size_t k = 0; k < run->lacks; k++)
		if (!c->is_covered || run->lack[k].row != i) // what an earlier look found it to lack
			run->lack[kept++] = run->lack[k];
	run->lacks = kept;
	c->is_covered = false;
	run->file.count = run->file.sorted = run->builds = 0;
	run->has_override = false;
	promote_answer_set(run->answer, row, row->result, STR(""));
	promote_answer_set_tested(run->answer, row, NULL, 0);
	if (promotion_judge_allows(&run->judge, &file, &why)) {
		row->is_override = run->has_override;
		promote_answer_set_tested(run->answer, row, run->build, run->builds);
	} else if (run->request->override && promotion_judge_lacks(&run->judge, &file, add_lack, &lacking)) {
		row->is_override = true;
	} else {
		promotion_hide_cell(run, row, &why);
		promote_answer_set(run->answer, row, PROMOTE_REFUSED, buf_view(&why));
		return;
	}
	row->result = PROMOTE_DONE;
	for (size_t k = 0; k < run->file.count && (run->is_settled || !c->is_covered); k++)
		add_id(&run->all, run->file.id[k]);
}

static int check_evidence(const struct promotion_run *run, struct err *e)
{
	if (run->has_failed)
		*e = run->why;
	return run->has_failed ? -1 : 0;
}

static int decide_row(struct promotion_run *run, size_t i, struct err *e)
{
	struct promote_row *row = &run->answer->row[i];
	int64_t platform = run->candidate[i].platform->id;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_REASON + LIMIT_FILE_NAME);
	int has = catalog_view_has(run->catalog, run->request->to, run->generation, platform, row->filename,
		row->sha256, e);
	if (has > 0)
		row->result = PROMOTE_ALREADY;
	if (has)
		return has < 0 ? -1 : 0;
	int left = promotion_names(run, row) ? 0
					     : removal_reason(run->catalog, run->request->to, platform, row->filename,
						       row->sha256, &why, e);
	if (left > 0)
		promote_answer_set(run->answer, row, PROMOTE_LEFT, buf_view(&why));
	if (left)
		return left < 0 ? -1 : 0;
	judge_row(run, i);
	return check_evidence(run, e);
}

static int judge_covered(struct promotion_run *run, bool *has_changed, struct err *e)
{
	*has_changed = false;
	for (size_t i = 0; i < run->answer->rows; i++) {
		struct promote_row *row = &run->answer->row[i];
		if (row->result != PROMOTE_DONE || !run->candidate[i].is_covered)
			continue;
		if (promotion_check_time(run, e) < 0)
			return -1;
		judge_row(run, i);
		*has_changed |= row->result != PROMOTE_DONE;
	}
	return check_evidence(run, e);
}

static void hold_all(struct promote_answer *a)
{
	for (size_t i = 0; i < a->rows; i++)
		if (a->row[i].result == PROMOTE_DONE)
			promote_answer_set(a, &a->row[i], PROMOTE_HELD, STR(HELD));
}

// Reads one snapshot of the catalog.
static int decide(struct promotion_run *run, struct err *e)
{
	const struct promote_request *r = run->request;
	CLEANUP(catalog_read_end) struct catalog *reading = NULL;
	if (catalog_read_begin(run->catalog, e) < 0)
		return -1;
	reading = run->catalog;
	if (promotion_generation(run->catalog, r->to, &run->generation, e) < 0 || promotion_collect(run, e) < 0)
		return -1;
	if (r->newest)
		promotion_keep_newest(run);
	run->all.count = run->all.sorted = 0;
	// A file that another one kept from a cell is judged again, until no refusal changes another row.
	bool ignored;
	run->is_settled = false;
	for (size_t i = 0; i < run->answer->rows; i++)
		if (promotion_check_time(run, e) < 0 || decide_row(run, i, e) < 0)
			return -1;
	for (bool has_changed = true; has_changed;)
		if (judge_covered(run, &has_changed, e) < 0)
			return -1;
	run->is_settled = true;
	if (judge_covered(run, &ignored, e) < 0)
		return -1;
	promotion_mark_twins(run);
	promotion_mark_overtaken(run);
	if (r->all_or_nothing && promotion_add_chain(run, e) < 0)
		return -1;
	promote_answer_count(run->answer);
	if (r->all_or_nothing && run->answer->count[PROMOTE_REFUSED])
		hold_all(run->answer);
	promote_answer_count(run->answer);
	run->answer->generation = run->generation;
	return 0;
}

static struct promotion_step step_of(const struct promotion_run *run, const char *reason)
{
	const struct promote_request *r = run->request;
	return (struct promotion_step){.folder = run->folder,
		.view = r->to,
		.generation = run->generation,
		.action = "promote",
		.by = r->by,
		.address = r->address,
		.reason = reason};
}

static void limit_reading(struct promotion_run *run)
{
	int64_t left = run->reading_end - clock_ms();
	if (run->request->catalog_ms)
		catalog_limit(run->catalog, left > 1 ? (unsigned)left : 1);
}

// An override is written before the generation that stands on it. The next try, if there is one, finds it as evidence.
static int decide_and_write(void *ctx, struct err *e)
{
	struct promotion_run *run = ctx;
	limit_reading(run);
	if (decide(run, e) < 0)
		return -1;
	catalog_limit(run->catalog, 0); // what is decided is written whole
	if (run->request->dry_run || !run->answer->count[PROMOTE_DONE])
		return 0;
	if (keep_overrides(run, run->judge.now, e) < 0)
		return -1;
	sort_ids(&run->all);
	struct promotion_step step = step_of(run, run->request->reason);
	step.evidence = &run->all;
	return promotion_step_write(&step, run->catalog, run->answer, e);
}

// --- prunes at the same moment ---

// A prune writes a tombstone, then looks whether a view has the file, and takes the tombstone back; a promotion writes
// its generation, then looks for tombstones, and takes the files out of the view again. So at least one of them sees
// the other, without a lock.

// The folder of the last file, because the files of a promotion are often in few folders.
struct open_folder {
	const struct platform *platform;
	char *path; // below the platform
	struct place_folder *open;
};

static void open_folder_release(struct open_folder *f)
{
	place_folder_close(&f->open);
	mem_free(&f->path);
}

static int enter_row_folder(struct open_folder *f, const struct platform *p, const char *file_path, struct err *e)
{
	const char *slash = strrchr(file_path, '/');
	size_t len = slash ? (size_t)(slash - file_path) : 0;
	if (f->open && f->platform == p && strlen(f->path) == len && memcmp(f->path, file_path, len) == 0)
		return 0;
	open_folder_release(f);
	f->platform = p;
	f->path = xstrndup(file_path, len);
	f->open = place_open_folder(p->written, f->path, e);
	return f->open ? 0 : -1;
}

// 1: the file has a tombstone, or it is gone; *why is the reason. 0: it has none.
static int is_pruned(const struct promotion_run *run, const struct promote_row *row, struct open_folder *f,
	struct buf *why, struct err *e)
{
	struct err absent = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	const struct platform *p = site_platform(run->site, str_from(row->platform));
	buf_clear(why);
	if (catalog_find_file(run->catalog, p->id, row->filename, &place, &absent) < 0 ||
		enter_row_folder(f, p, place.path, &absent) < 0) {
		buf_puts(why, "it is not in the store any more");
		if (absent.kind == ERR_NOT_FOUND)
			return 1;
		*e = absent;
		return -1;
	}
	int found = sidecar_read(f->open, row->filename, MARK_PRUNED, &text, e);
	if (found <= 0)
		return found;
	buf_puts(why, "it was pruned at the same moment: ");
	mark_reason(MARK_PRUNED, buf_view(&text), why);
	return 1;
}

// The arguments of end_rows.
struct ending_rows {
	struct promotion_run *run;
	struct promote_row *was_done; // the rows that the generation added
	size_t count;
	struct promote_answer ending;
};

// Takes the members among the rows that are not done any more out of the newest generation.
static int end_rows(void *ctx, struct err *e)
{
	struct ending_rows *x = ctx;
	struct promotion_run *run = x->run;
	struct promotion_step step = step_of(run, "a prune removes the files at the same moment");
	if (promotion_generation(run->catalog, step.view, &step.generation, e) < 0)
		return -1;
	promote_answer_clear(&x->ending);
	for (size_t i = 0; i < x->count; i++) {
		const struct promote_row *row = &x->was_done[i];
		int has = catalog_view_has(run->catalog, step.view, step.generation,
			site_platform(run->site, str_from(row->platform))->id, row->filename, row->sha256, e);
		if (has < 0)
			return -1;
		if (has)
			promote_answer_add(&x->ending, row)->result = PROMOTE_ENDED;
	}
	x->ending.generation = step.generation;
	return x->ending.rows ? promotion_step_write(&step, run->catalog, &x->ending, e) : 0;
}

// Looks for tombstones of the rows that are done, and ends the membership of those that have one. They become refused,
// and if all or nothing is promoted the others held.
static int take_out_pruned(struct promotion_run *run, struct err *e)
{
	struct promote_answer *a = run->answer;
	CLEANUP(arena_release) struct arena room = {0};
	CLEANUP(open_folder_release) struct open_folder folder = {0};
	CLEANUP(buf_release) struct buf why = buf_up_to(2 * (size_t)LIMIT_REASON);
	struct ending_rows x = {.run = run, .was_done = ARENA_NEW(&room, struct promote_row, a->rows)};
	bool is_any_pruned = false;
	for (size_t i = 0; i < a->rows; i++) {
		struct promote_row *row = &a->row[i];
		if (row->result != PROMOTE_DONE)
			continue;
		int pruned = is_pruned(run, row, &folder, &why, e);
		if (pruned < 0)
			return err_prefix(e, "%s is promoted, but tombstones cannot be looked for: ", row->filename);
		if (pruned || run->request->all_or_nothing)
			x.was_done[x.count++] = *row;
		if (pruned)
			promote_answer_set(a, row, PROMOTE_REFUSED, buf_view(&why));
		is_any_pruned |= pruned;
	}
	if (!is_any_pruned)
		return 0;
	if (run->request->all_or_nothing)
		hold_all(a);
	promote_answer_count(a);
	int result = promotion_try(end_rows, &x, e);
	if (result == 0)
		a->generation = x.ending.generation;
	promote_answer_release(&x.ending);
	return result;
}

// --- all steps ---

static void run_release(struct promotion_run *run)
{
	promotion_judge_release(&run->judge);
	evidence_search_release(&run->search);
	promote_select_release(&run->select);
	free(run->folder);
	free(run->all.id);
	free(run->file.id);
	arena_release(&run->text);
	arena_release(&run->own);
}

static int prepare_run(struct promotion_run *run, int64_t now, struct err *e)
{
	const struct promote_request *r = run->request;
	evidence_search_init(&run->search, run->catalog, r->to, NULL);
	if (promotion_find_source(run, e) < 0 || views_folder(&run->site->config, &run->folder, e) < 0 ||
		promote_select_read(r->select, r->selects, &run->select, e) < 0 ||
		promotion_check_reason(r->reason, e) < 0 ||
		(r->override && promotion_check_reason(r->override, e) < 0))
		return -1;
	const struct config_view *v = run->config;
	if (promotion_judge_init(&run->judge, v->requires, v->cells, run->source.platform, run->source.platform_count,
		    now, find_evidence, run, e) < 0)
		return err_prefix(e, "view %s: ", v->name);
	if (note_evidence(run, e) < 0)
		return -1;
	if (r->dry_run) { // writes nothing, also no digest
		run->search.store = &run->site->store;
		return 0;
	}
	if (promotion_refresh(run->folder, run->catalog, r->to, e) < 0)
		return -1;
	return wanted_contents_take(&run->site->store, run->catalog, r->cpu_ms ? LIMIT_CONTENTS_MS : 0, NULL, e);
}

int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e)
{
	CLEANUP(run_release)
	struct promotion_run run = {.site = site,
		.catalog = c,
		.request = r,
		.answer = out,
		.cpu_end = r->cpu_ms ? clock_thread_ms() + r->cpu_ms : INT64_MAX,
		.reading_end = clock_ms() + r->catalog_ms};
	*out = (struct promote_answer){0};
	limit_reading(&run);
	int result = prepare_run(&run, now, e);
	if (result == 0)
		result = promotion_try(decide_and_write, &run, e);
	catalog_limit(c, 0);
	if (result < 0)
		return e->kind == ERR_TIME ? promotion_refuse_late(e) : -1;
	if (!r->dry_run) { // the first error counts
		struct err unlogged = ERR_INIT;
		int looked = out->count[PROMOTE_DONE] ? take_out_pruned(&run, e) : 0;
		int logged = promote_answer_audit(out, audit, "promote", r->to, r->by, r->address, r->reason,
			looked < 0 ? &unlogged : e);
		if (looked < 0 || logged < 0)
			return -1;
	}
	promote_answer_shorten(out);
	return 0;
}

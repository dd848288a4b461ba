// SPDX-License-Identifier: Apache-2.0
// What other files make of one: better ones for the machines of another platform, others of its name, newer versions,
// and the files of its version that the chain of views holds back.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/version.h"
#include "promoter/promotion-run.h"

static bool is_in_view(const struct promote_row *row)
{
	return row->result == PROMOTE_DONE || row->result == PROMOTE_ALREADY;
}

static bool have_same_version(const struct promotion_run *run, size_t a, size_t b)
{
	return strcmp(run->answer->row[a].project, run->answer->row[b].project) == 0 &&
	       str_eq(run->candidate[a].version_key, run->candidate[b].version_key);
}

// --- better files of another platform ---

// What keeps a wheel of one platform from machines of another one that ask the view as a whole is a better file of
// theirs, or one of the same name. Without it pip takes the wheel there, so that it needs evidence of these cells, too.

static bool covers_row(const struct promotion_rival *r, size_t other, size_t cell, long rank)
{
	struct promotion_run *run = r->run;
	const struct promote_row *row = &run->answer->row[other];
	const struct promotion_candidate *c = &run->candidate[other];
	const struct promotion_file file = {
		.filename = row->filename, .requires_python = c->requires_python, .is_yanked = c->is_yanked};
	return is_in_view(row) && strcmp(row->platform, run->judge.cell[cell].platform) == 0 &&
	       promotion_judge_is_better(&run->judge, &file, run->answer->row[r->row].filename, cell, rank);
}

// The rows of a version follow each other.
static bool is_covered_by_rows(const struct promotion_rival *r, size_t cell, long rank)
{
	for (size_t i = r->row; i-- > 0 && have_same_version(r->run, i, r->row);)
		if (covers_row(r, i, cell, rank))
			return true;
	for (size_t i = r->row + 1; i < r->run->answer->rows && have_same_version(r->run, i, r->row); i++)
		if (covers_row(r, i, cell, rank))
			return true;
	return false;
}

// The arguments of look_at_member.
struct member_search {
	const struct promotion_rival *rival;
	size_t cell;
	long rank;
	bool is_found;
};

static int look_at_member(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e UNUSED)
{
	struct member_search *s = ctx;
	struct promotion_run *run = s->rival->run;
	size_t row = s->rival->row;
	const struct promotion_file member = {.filename = file->filename,
		.requires_python = file->requires_python,
		.is_yanked = file->yanked != NULL};
	if (!s->is_found && strcmp(platform->name, run->judge.cell[s->cell].platform) == 0 &&
		str_eq(file->version_key, run->candidate[row].version_key))
		s->is_found = promotion_judge_is_better(
			&run->judge, &member, run->answer->row[row].filename, s->cell, s->rank);
	return 0;
}

// Members of which there are no rows, because others were selected, or because the sender may not know of them.
static bool is_covered_by_members(const struct promotion_rival *r, size_t cell, long rank)
{
	struct promotion_run *run = r->run;
	struct member_search s = {.rival = r, .cell = cell, .rank = rank};
	if ((!run->select.words && !run->request->may) || run->has_failed)
		return false;
	struct view own = *site_view(run->site, str_from(run->request->to));
	own.shows_each = true;
	own.generation = run->generation;
	run->has_failed =
		view_files(&own, run->catalog, run->answer->row[r->row].project, look_at_member, &s, &run->why) < 0;
	return s.is_found;
}

bool promotion_rival_covers(void *ctx, size_t cell, long rank)
{
	const struct promotion_rival *r = ctx;
	bool is_covered = is_covered_by_rows(r, cell, rank) || is_covered_by_members(r, cell, rank);
	r->run->candidate[r->row].is_covered |= is_covered;
	return is_covered;
}

// --- one name, other bytes ---

static bool is_twin(const struct promote_row *a, const struct promote_row *b)
{
	return is_in_view(a) && strcmp(a->project, b->project) == 0 && memcmp(a->sha256, b->sha256, SHA256_SIZE) != 0;
}

// Rows of one name follow each other. NULL: it has none.
static const struct promote_row *find_twin(const struct promotion_run *run, size_t at)
{
	const struct promote_answer *a = run->answer;
	for (size_t i = at; i-- > 0 && strcmp(a->row[i].filename, a->row[at].filename) == 0;)
		if (is_twin(&a->row[i], &a->row[at]))
			return &a->row[i];
	for (size_t i = at + 1; i < a->rows && strcmp(a->row[i].filename, a->row[at].filename) == 0; i++)
		if (is_twin(&a->row[i], &a->row[at]))
			return &a->row[i];
	return NULL;
}

void promotion_mark_twins(struct promotion_run *run)
{
	for (size_t i = 0; i < run->answer->rows; i++) {
		struct promote_row *row = &run->answer->row[i];
		const struct promote_row *twin = is_in_view(row) ? find_twin(run, i) : NULL;
		if (twin)
			row->reason = arena_printf(&run->answer->text,
				"%s%sonly at /%s/%s/simple/, because %s has other bytes of this name", row->reason,
				*row->reason ? "; " : "", run->request->to, row->platform, twin->platform);
	}
}

// --- newer versions ---

#define PART_HELD "another file of its version is not taken, and all or nothing is promoted"

// A refused file that a newer version has overtaken fails nothing, and with --newest older versions are not looked at.
// A version is newer for the cells in which both install. A pre-release makes no final version older, because
// installers take the final one.

enum { NEVER = -1 };

// What newer versions a place has: a cell, or, for files that need none such as source archives, a platform.
struct newer_place {
	int64_t any, final; // when the last of their files came; NEVER: there is none
};

struct newer_search {
	struct promotion_run *run;
	bool is_choosing;           // --newest: before the files are judged
	struct newer_place *before; // by place: what the view had before
	struct newer_place *all;    // that, and what it takes now; or all files
	size_t places;
	// Of the file that is looked at.
	size_t *place, count; // its cells, else its platform
	size_t platform;      // the place of it
	bool is_prerelease;
};

static void look_at_row(struct newer_search *s, size_t at)
{
	struct promotion_run *run = s->run;
	struct promotion_judge *j = &run->judge;
	const struct promote_row *row = &run->answer->row[at];
	const struct promotion_file file = {.platform = row->platform,
		.filename = row->filename,
		.requires_python = run->candidate[at].requires_python,
		.sha256 = row->sha256};
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version version = {0};
	s->is_prerelease = version_parse(str_from(row->version), &version, &ignored) == 0 && version.is_prerelease;
	s->platform = j->cells;
	for (size_t i = 0; i < run->source.platform_count && run->source.platform[i] != run->candidate[at].platform; i++)
		s->platform++;
	s->count = promotion_judge_cells(j, &file);
	for (size_t i = 0; i < s->count; i++) {
		size_t k = 0;
		while (j->cell[k].platform != j->needed[i].platform || j->cell[k].python != j->needed[i].python)
			k++;
		s->place[i] = k;
	}
	if (!s->count)
		s->place[s->count++] = s->platform;
}

// Whether newer versions are in each of its places, and came no earlier.
static bool is_covered(const struct newer_search *s, const struct newer_place *newer, size_t at)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct newer_place *p = &newer[s->place[i]];
		int64_t came = s->is_prerelease ? p->any : p->final;
		if (came == NEVER || (!s->is_choosing && came < s->run->candidate[at].came))
			return false;
	}
	return true;
}

static void note_place(struct newer_place *p, bool is_prerelease, int64_t came)
{
	came = came < 0 ? 0 : came;
	p->any = came > p->any ? came : p->any;
	if (!is_prerelease)
		p->final = came > p->final ? came : p->final;
}

static void note_row(struct newer_search *s, struct newer_place *newer, size_t at)
{
	int64_t came = s->run->candidate[at].came;
	for (size_t i = 0; i < s->count; i++)
		note_place(&newer[s->place[i]], s->is_prerelease, came);
	note_place(&newer[s->platform], s->is_prerelease, came);
}

static void judge_older(struct newer_search *s, size_t at)
{
	struct promote_row *row = &s->run->answer->row[at];
	if ((!s->is_choosing && row->result != PROMOTE_REFUSED) || promotion_names(s->run, row))
		return;
	look_at_row(s, at);
	s->run->candidate[at].is_older = is_covered(s, s->all, at);
	if (s->is_choosing || !s->run->candidate[at].is_older)
		return;
	row->is_repeated = is_covered(s, s->before, at);
	row->result = PROMOTE_OVERTAKEN;
	row->reason = arena_printf(&s->run->answer->text, "a newer version has overtaken it; %s", row->reason);
}

// Under --all-or-nothing a file does not come without the others of its version: where one of these has left, or is
// overtaken, it is overtaken too, or held where no newer version is in its place.
static void hold_part(struct newer_search *s, size_t begin, size_t end)
{
	struct promotion_run *run = s->run;
	struct promote_row *row = run->answer->row;
	bool is_part = false;
	for (size_t i = begin; i < end; i++)
		is_part |= row[i].result == PROMOTE_LEFT || row[i].result == PROMOTE_OVERTAKEN;
	for (size_t i = begin; i < end; i++) {
		if (!is_part || row[i].result != PROMOTE_DONE)
			continue;
		look_at_row(s, i);
		bool is_older = is_covered(s, s->all, i) && !promotion_names(run, &row[i]);
		row[i].is_repeated = is_covered(s, s->before, i);
		promote_answer_set(run->answer, &row[i], is_older ? PROMOTE_OVERTAKEN : PROMOTE_HELD,
			is_older ? STR("a newer version has overtaken it; " PART_HELD) : STR(PART_HELD));
	}
}

// Under --newest and --all-or-nothing a version is looked at whole, or not at all: where newer ones are in place of
// each of its files.
static void choose_whole(struct promotion_run *run, size_t begin, size_t end)
{
	bool is_older = true;
	for (size_t i = begin; i < end; i++)
		is_older &= run->candidate[i].is_older;
	for (size_t i = begin; i < end; i++)
		run->candidate[i].is_older = is_older;
}

static void note_newer(struct newer_search *s, size_t at)
{
	const struct promote_row *row = &s->run->answer->row[at];
	if (!s->is_choosing && !is_in_view(row))
		return;
	look_at_row(s, at);
	note_row(s, s->all, at);
	if (row->result == PROMOTE_ALREADY)
		note_row(s, s->before, at);
}

// From the newest version of each project to the oldest.
static void find_older_files(struct promotion_run *run, bool is_choosing)
{
	struct arena *a = &run->text;
	const struct promote_row *row = run->answer->row;
	struct newer_search s = {.run = run, .is_choosing = is_choosing};
	s.places = run->judge.cells + run->source.platform_count + 1;
	s.before = ARENA_NEW(a, struct newer_place, s.places);
	s.all = ARENA_NEW(a, struct newer_place, s.places);
	s.place = ARENA_NEW(a, size_t, s.places);
	for (size_t from = 0, to; from < run->candidates; from = to) {
		for (to = from + 1; to < run->candidates && strcmp(row[to].project, row[from].project) == 0;)
			to++;
		for (size_t i = 0; i < s.places; i++)
			s.before[i] = s.all[i] = (struct newer_place){NEVER, NEVER};
		for (size_t end = to, begin; end > from; end = begin) {
			for (begin = end - 1; begin > from && have_same_version(run, begin - 1, end - 1);)
				begin--;
			for (size_t i = begin; i < end; i++)
				judge_older(&s, i);
			if (run->request->all_or_nothing && is_choosing)
				choose_whole(run, begin, end);
			else if (run->request->all_or_nothing)
				hold_part(&s, begin, end);
			for (size_t i = begin; i < end; i++)
				note_newer(&s, i);
		}
	}
}

void promotion_mark_overtaken(struct promotion_run *run)
{
	find_older_files(run, false);
}

void promotion_keep_newest(struct promotion_run *run)
{
	size_t kept = 0;
	find_older_files(run, true);
	for (size_t i = 0; i < run->candidates; i++) {
		if (run->candidate[i].is_older)
			continue;
		run->answer->row[kept] = run->answer->row[i];
		run->candidate[kept++] = run->candidate[i];
	}
	run->answer->rows = run->candidates = kept;
}

// --- the chain of views ---

// What the chain of views behind the source knows of a version, for --all-or-nothing. A version is all of its files
// that some view of the chain shows, so a file that one of these views holds back holds back the version.

// A file that the view before shows.
struct chain_file {
	const struct platform *platform;
	struct catalog_file row;
};

struct chain_search {
	struct promotion_run *run;
	struct strset projects;         // with a version that is to be whole
	struct strset versions;         // these: a project and a version key
	struct strset files;            // of the answer, and of views before: a platform and a file name
	struct strset found;            // further ones, of the view before
	const struct config_view *view; // that does not show all that the one before it does
	struct wheel_tests tests;       // of the view
	const char *project;            // that is looked at
	struct chain_file *shown;       // of it, what the view before shows of these versions
	size_t shown_count, shown_room;
};

static void chain_search_release(struct chain_search *s)
{
	wheel_tests_release(&s->tests);
	strset_release(&s->projects);
	strset_release(&s->versions);
	strset_release(&s->files);
	strset_release(&s->found);
}

// "PROJECT/HEX".
static char *version_name(const char *project, struct str key)
{
	CLEANUP(mem_free) char *hex = xcalloc(2 * key.len + 1, 1);
	hex_encode((const uint8_t *)key.ptr, key.len, hex);
	return xasprintf("%s/%s", project, hex);
}

static char *file_name(const char *platform, const char *filename)
{
	return xasprintf("%s/%s", platform, filename);
}

// A version is to be whole if one of its files would be promoted, or if it is named.
static void collect_versions(struct chain_search *s)
{
	struct promotion_run *run = s->run;
	for (size_t i = 0; i < run->answer->rows; i++) {
		const struct promote_row *row = &run->answer->row[i];
		CLEANUP(mem_free) char *file = file_name(row->platform, row->filename);
		strset_add(&s->files, file);
		if (row->result != PROMOTE_DONE && !promotion_names(run, row))
			continue;
		CLEANUP(mem_free) char *version = version_name(row->project, run->candidate[i].version_key);
		strset_add(&s->versions, version);
		strset_add(&s->projects, row->project);
	}
	strset_sort(&s->files);
	strset_sort(&s->versions);
	strset_sort(&s->projects);
}

static int add_shown(void *ctx, const struct platform *p, const struct catalog_file *f, struct err *e UNUSED)
{
	struct chain_search *s = ctx;
	struct promotion_run *run = s->run;
	const struct promote_request *r = run->request;
	const struct promote_subject subject = {p->name, s->project, f->version, f->filename};
	CLEANUP(mem_free) char *file = file_name(p->name, f->filename);
	CLEANUP(mem_free) char *version = version_name(s->project, f->version_key);
	if (!strset_has(&s->versions, version) || strset_has(&s->files, file) ||
		(r->may && !r->may(r->may_ctx, p->name, s->project)) || !promote_select_matches(&run->select, &subject))
		return 0;
	strset_add(&s->found, file);
	ARENA_GROW(&run->text, s->shown, s->shown_count, s->shown_room);
	s->shown[s->shown_count] = (struct chain_file){p, *f};
	catalog_file_copy(&run->text, &s->shown[s->shown_count++].row);
	return 0;
}

// Why the view does not have the file; "": it could have it. NULL: no evidence can make the view take it, such as a
// source archive, so that it is no part of what can be released.
static int find_reason(struct chain_search *s, const struct platform *p, const struct catalog_file *f,
	const char **why, struct err *e)
{
	const struct promotion_file file = {.platform = p->name,
		.filename = f->filename,
		.requires_python = f->requires_python,
		.sha256 = f->sha256,
		.platform_id = p->id,
		.version = f->version};
	*why = NULL;
	if (!promotion_judge_lacks(&s->tests.judge, &file, NULL, NULL))
		return 0;
	if (wheel_tests_left(&s->tests, &file, why, e) < 0)
		return -1;
	return **why ? 0 : wheel_tests_why(&s->tests, &file, why, e);
}

static int add_held_back(struct chain_search *s, const struct platform *p, const struct catalog_file *f, struct err *e)
{
	const char *reason;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_REASON + LIMIT_FILE_NAME);
	if (find_reason(s, p, f, &reason, e) < 0)
		return -1;
	if (!reason)
		return 0;
	struct promote_row row = {.platform = p->name,
		.project = s->project,
		.version = f->version,
		.filename = f->filename,
		.result = PROMOTE_REFUSED};
	memcpy(row.sha256, f->sha256, SHA256_SIZE);
	buf_puts(&why, *reason ? reason : "promote it there first");
	promotion_hide_cell(s->run, &row, &why);
	row.reason = arena_printf(&s->run->text, "view %s has not taken it: %s", s->view->name, why.data);
	promote_answer_add(s->run->answer, &row);
	return 0;
}

// The files are judged when all are read, because the tests of one list the files of the project again.
static int compare_project(struct chain_search *s, const struct view *shown, struct err *e)
{
	s->shown_count = 0;
	if (view_files(shown, s->run->catalog, s->project, add_shown, s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->shown_count; i++)
		if (add_held_back(s, s->shown[i].platform, &s->shown[i].row, e) < 0)
			return -1;
	return 0;
}

// What the view before this one shows on the platforms that the promotion is about, and this one does not.
static int compare_view(struct chain_search *s, struct err *e)
{
	struct promotion_run *run = s->run;
	const struct view *before = site_view(run->site, str_from(s->view->from));
	if (!before)
		return 0;
	struct view shown = *before;
	shown.shows_each = true;
	shown.platform = ARENA_NEW(&run->text, const struct platform *, before->platform_count);
	shown.platform_count = 0;
	for (size_t i = 0; i < before->platform_count; i++)
		for (size_t k = 0; k < run->source.platform_count; k++)
			if (before->platform[i] == run->source.platform[k])
				shown.platform[shown.platform_count++] = before->platform[i];
	wheel_tests_release(&s->tests);
	if (wheel_tests_init(&s->tests, run->site, s->view, run->catalog, &run->text, run->judge.now, e) < 0)
		return -1;
	for (size_t i = 0; i < s->projects.count; i++) {
		s->project = s->projects.item[i];
		if (compare_project(s, &shown, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < s->found.count; i++)
		strset_add(&s->files, s->found.item[i]);
	strset_sort(&s->files);
	strset_release(&s->found);
	return 0;
}

int promotion_add_chain(struct promotion_run *run, struct err *e)
{
	CLEANUP(chain_search_release) struct chain_search s = {.run = run};
	const struct config *c = &run->site->config;
	collect_versions(&s);
	for (s.view = config_view(c, run->config->from); s.view && s.view->from; s.view = config_view(c, s.view->from))
		if (compare_view(&s, e) < 0)
			return -1;
	return 0;
}

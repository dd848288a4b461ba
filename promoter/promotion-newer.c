// SPDX-License-Identifier: Apache-2.0
// What newer versions make of older ones: a refused file that a newer version has overtaken fails nothing, and with
// --newest older versions are not looked at. A version is newer for the cells in which both install. A pre-release makes
// no final version older, because installers take the final one.
#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/version.h"
#include "promoter/promotion-run.h"

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
	size_t *place, count; // of the file that is looked at
	bool is_prerelease;   // that file
};

static void newer_search_release(struct newer_search *s)
{
	mem_free(&s->before);
	mem_free(&s->all);
	mem_free(&s->place);
}

// --- one file ---

static size_t platform_place(const struct newer_search *s, const char *platform)
{
	const struct view *source = &s->run->source;
	size_t i = 0;
	while (i < source->platform_count && strcmp(source->platform[i]->name, platform) != 0)
		i++;
	return s->run->judge.cells.cells + i;
}

static size_t cell_place(const struct needed_cells *all, const struct promotion_cell *cell)
{
	size_t i = 0;
	while (all->cell[i].platform != cell->platform || all->cell[i].python != cell->python)
		i++;
	return i;
}

static void look_at_row(struct newer_search *s, size_t at)
{
	struct promotion_judge *j = &s->run->judge;
	const struct promote_row *row = &s->run->answer->row[at];
	const struct promotion_file file = {
		row->platform, row->filename, s->run->candidate[at].requires_python, row->sha256, NULL, NULL};
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version version = {0};
	s->is_prerelease = version_parse(str_from(row->version), &version, &ignored) == 0 && version.is_prerelease;
	s->count = promotion_judge_cells(j, &file);
	for (size_t i = 0; i < s->count; i++)
		s->place[i] = cell_place(&j->cells, &j->needed[i]);
}

// Whether newer versions are in each of its places, and came no earlier.
static bool is_covered(const struct newer_search *s, const struct newer_place *newer, size_t at)
{
	const struct promotion_candidate *c = &s->run->candidate[at];
	size_t platform = platform_place(s, c->platform->name);
	const size_t *place = s->count ? s->place : &platform;
	for (size_t i = 0; i < (s->count ? s->count : 1); i++) {
		const struct newer_place *p = &newer[place[i]];
		int64_t came = s->is_prerelease ? p->any : p->final;
		if (came == NEVER || (!s->is_choosing && came < c->came))
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
	const struct promotion_candidate *c = &s->run->candidate[at];
	for (size_t i = 0; i < s->count; i++)
		note_place(&newer[s->place[i]], s->is_prerelease, c->came);
	note_place(&newer[platform_place(s, c->platform->name)], s->is_prerelease, c->came);
}

// --- the versions of a project ---

static void judge_older(struct newer_search *s, size_t at)
{
	struct promote_row *row = &s->run->answer->row[at];
	struct promotion_candidate *c = &s->run->candidate[at];
	bool may_be_older = s->is_choosing || row->result == PROMOTE_REFUSED;
	if (!may_be_older ||
		promotion_run_names(s->run, row))
		return;
	look_at_row(s, at);
	if (!is_covered(s, s->all, at))
		return;
	c->is_older = true;
	if (s->is_choosing)
		return;
	row->is_repeated = is_covered(s, s->before, at);
	CLEANUP(mem_free) char *why = xasprintf("a newer version has overtaken it; %s", row->reason);
	promote_answer_set(s->run->answer, row, PROMOTE_OVERTAKEN, str_from(why));
}

static void note_newer(struct newer_search *s, size_t at)
{
	enum promote_result result = s->run->answer->row[at].result;
	bool is_there = result == PROMOTE_ALREADY, is_taken = is_there || result == PROMOTE_DONE;
	if (!s->is_choosing && !is_taken)
		return;
	look_at_row(s, at);
	note_row(s, s->all, at);
	if (is_there)
		note_row(s, s->before, at);
}

static bool have_same_key(const struct promotion_run *run, size_t a, size_t b)
{
	return str_eq(run->candidate[a].version_key, run->candidate[b].version_key);
}

// From the newest version to the oldest.
static void find_older_of_project(struct newer_search *s, size_t from, size_t to)
{
	for (size_t i = 0; i < s->places; i++)
		s->before[i] = s->all[i] = (struct newer_place){NEVER, NEVER};
	for (size_t end = to, begin; end > from; end = begin) {
		for (begin = end - 1; begin > from && have_same_key(s->run, begin - 1, end - 1);)
			begin--;
		for (size_t i = begin; i < end; i++)
			judge_older(s, i);
		for (size_t i = begin; i < end; i++)
			note_newer(s, i);
	}
}

static void find_older_files(struct newer_search *s)
{
	const struct promotion_run *run = s->run;
	const struct promote_row *row = run->answer->row;
	s->places = run->judge.cells.cells + run->source.platform_count + 1;
	s->before = xcalloc(s->places, sizeof(*s->before));
	s->all = xcalloc(s->places, sizeof(*s->all));
	s->place = xcalloc(s->places, sizeof(*s->place));
	for (size_t from = 0, to; from < run->candidates; from = to) {
		for (to = from + 1; to < run->candidates && strcmp(row[to].project, row[from].project) == 0;)
			to++;
		find_older_of_project(s, from, to);
	}
}

void promotion_run_mark_overtaken(struct promotion_run *run)
{
	CLEANUP(newer_search_release) struct newer_search s = {.run = run};
	find_older_files(&s);
}

void promotion_run_keep_newest(struct promotion_run *run)
{
	CLEANUP(newer_search_release) struct newer_search s = {.run = run, .is_choosing = true};
	size_t kept = 0;
	find_older_files(&s);
	for (size_t i = 0; i < run->candidates; i++) {
		if (run->candidate[i].is_older)
			continue;
		run->answer->row[kept] = run->answer->row[i];
		run->candidate[kept++] = run->candidate[i];
	}
	run->answer->rows = run->candidates = kept;
}

// SPDX-License-Identifier: Apache-2.0
// What keeps a wheel of one platform from machines of another one that ask the view as a whole: a better file of theirs, or
// one of the same name. Without it pip takes the wheel there, so that it needs evidence of these cells, too.
#include <string.h>

#include "lib/base/limits.h"
#include "promoter/promotion-run.h"

static bool is_in_view(const struct promote_row *row)
{
	return row->result == PROMOTE_DONE || row->result == PROMOTE_ALREADY;
}

static bool is_row_of_version(const struct promotion_run *run, size_t a, size_t b)
{
	return strcmp(run->answer->row[a].project, run->answer->row[b].project) == 0 &&
	       str_eq(run->candidate[a].version_key, run->candidate[b].version_key);
}

static bool is_better(struct promotion_run *run, const char *filename, const char *requires_python, const char *name,
	size_t cell, long rank)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename parsed = {0};
	if (strcmp(filename, name) == 0)
		return true;
	if (filename_kind(str_from(filename)) != FILENAME_WHEEL ||
		filename_parse(str_from(filename), &parsed, &ignored) < 0)
		return false;
	long other = needed_cells_rank(&run->judge.cells, &parsed, requires_python, cell);
	return other >= 0 && other < rank;
}

// The rows of a version follow each other.
static bool covers_row(const struct promotion_rival *r, size_t other, size_t cell, long rank)
{
	struct promotion_run *run = r->run;
	const struct promote_row *row = &run->answer->row[other];
	return is_in_view(row) && strcmp(row->platform, run->judge.cells.cell[cell].platform) == 0 &&
	       is_better(run, row->filename, run->candidate[other].requires_python, run->answer->row[r->row].filename, cell,
		       rank);
}

static bool is_covered_by_rows(const struct promotion_rival *r, size_t cell, long rank)
{
	for (size_t i = r->row; i-- > 0 && is_row_of_version(r->run, i, r->row);)
		if (covers_row(r, i, cell, rank))
			return true;
	for (size_t i = r->row + 1; i < r->run->answer->rows && is_row_of_version(r->run, i, r->row); i++)
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
	if (!s->is_found && strcmp(platform->name, run->judge.cells.cell[s->cell].platform) == 0 &&
		str_eq(file->version_key, run->candidate[row].version_key))
		s->is_found = is_better(run, file->filename, file->requires_python, run->answer->row[row].filename,
			s->cell, s->rank);
	return 0;
}

// Members of which there are no rows, because others were selected, or because the sender may not know of them.
static bool is_covered_by_members(const struct promotion_rival *r, size_t cell, long rank)
{
	struct promotion_run *run = r->run;
	struct member_search s = {.rival = r, .cell = cell, .rank = rank};
	if ((!run->select.words && !run->request->may) || run->evidence.has_failed)
		return false;
	struct view own = *site_view(run->site, str_from(run->request->to));
	own.shows_each = true;
	own.generation = run->generation;
	if (view_files(&own, run->catalog, run->answer->row[r->row].project, look_at_member, &s, &run->evidence.why) < 0)
		run->evidence.has_failed = true;
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
	return strcmp(a->filename, b->filename) == 0 && strcmp(a->project, b->project) == 0 &&
	       memcmp(a->sha256, b->sha256, SHA256_SIZE) != 0;
}

// Rows of one name follow each other. NULL: it has none.
static const struct promote_row *find_twin(const struct promotion_run *run, size_t at)
{
	const struct promote_answer *a = run->answer;
	for (size_t i = at; i-- > 0 && strcmp(a->row[i].filename, a->row[at].filename) == 0;)
		if (is_in_view(&a->row[i]) && is_twin(&a->row[i], &a->row[at]))
			return &a->row[i];
	for (size_t i = at + 1; i < a->rows && strcmp(a->row[i].filename, a->row[at].filename) == 0; i++)
		if (is_in_view(&a->row[i]) && is_twin(&a->row[i], &a->row[at]))
			return &a->row[i];
	return NULL;
}

void promotion_run_mark_twins(struct promotion_run *run)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_REASON + 4 * LIMIT_FILE_NAME);
	for (size_t i = 0; i < run->answer->rows; i++) {
		struct promote_row *row = &run->answer->row[i];
		const struct promote_row *twin = is_in_view(row) ? find_twin(run, i) : NULL;
		if (!twin)
			continue;
		buf_clear(&why);
		buf_printf(&why, "%s%s", row->reason, *row->reason ? "; " : "");
		buf_printf(&why, "only at /%s/%s/simple/, because %s has other bytes of this name", run->request->to,
			row->platform, twin->platform);
		promote_answer_set(run->answer, row, row->result, buf_view(&why));
	}
}

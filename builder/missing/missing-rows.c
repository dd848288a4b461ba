// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/missing-rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/results/results.h"

enum { WHY_MAX = 16 << 10 };

void missing_rows_release(struct missing_rows *m)
{
	for (size_t i = 0; i < m->open_room; i++)
		free(m->open[i].branch);
	for (size_t i = 0; i < m->count; i++)
		free(m->kept[i].awaiting);
	free(m->open);
	free(m->kept);
}

// --- one cell ---

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

// Without a version, an impossible want is told by its specifier.
static bool is_same_row(const struct rows_open *row, const struct cell_status *s, const struct branch_want *want)
{
	if (row->status.status != s->status || !same_text(row->status.version, s->version))
		return false;
	return s->version || s->status != WHEEL_IMPOSSIBLE || strcmp(row->want->specifier, want->specifier) == 0;
}

static struct rows_open *new_open_row(struct missing_rows *m)
{
	if (m->opened == m->open_room) {
		size_t room = m->open_room ? 2 * m->open_room : 8;
		m->open = xreallocarray(m->open, room, sizeof(*m->open));
		memset(m->open + m->open_room, 0, (room - m->open_room) * sizeof(*m->open));
		m->open_room = room;
	}
	return &m->open[m->opened++];
}

static struct rows_open *find_or_open_row(struct missing_rows *m, const struct cell_status *s,
	const struct branch_want *want)
{
	for (size_t i = 0; i < m->opened; i++)
		if (is_same_row(&m->open[i], s, want))
			return &m->open[i];
	struct rows_open *row = new_open_row(m);
	row->status = *s;
	row->want = want;
	row->micros = 0;
	row->branches = 0;
	return row;
}

void missing_rows_add(struct missing_rows *m, const struct cell *cell, const char *branch,
	const struct branch_want *want)
{
	struct cell_status s[RESOLVE_OUTCOMES];
	size_t count = cell_decide(cell, want, &m->out->text, s);
	for (size_t i = 0; i < count; i++) {
		struct rows_open *row = find_or_open_row(m, &s[i], want);
		row->micros |= s[i].outcome.micros;
		if (row->branches && strcmp(row->branch[row->branches - 1], branch) == 0)
			continue;
		GROW(row->branch, row->branches, row->branch_room);
		row->branch[row->branches++] = branch;
	}
}

static int compare_open_rows(const void *a, const void *b)
{
	const struct rows_open *left = a, *right = b;
	const struct offer *one = left->status.outcome.file, *other = right->status.outcome.file;
	int order = one && other ? version_cmp(&one->version, &other->version) : (one != NULL) - (other != NULL);
	if (order == 0 && left->status.version && right->status.version)
		order = strcmp(left->status.version, right->status.version);
	if (order == 0)
		order = (left->status.status > right->status.status) - (left->status.status < right->status.status);
	return order ? order : strcmp(left->want->specifier, right->want->specifier);
}

static bool is_kept(const struct missing_rows *m, enum wheel_status status)
{
	static const bool matters[WHEEL_STATUS_COUNT] = {
		[WHEEL_MISSING] = true,
		[WHEEL_UNPROMOTED] = true,
		[WHEEL_FAILED] = true,
		[WHEEL_AWAITING] = true,
		[WHEEL_UNKNOWN] = true,
		[WHEEL_IMPOSSIBLE] = true,
	};
	return m->wants_all || matters[status];
}

static void count_row(struct missing_rows *m, size_t environment, enum wheel_status status, int by)
{
	m->out->total[status] += (uint64_t)(int64_t)by;
	m->out->environment[environment].total[status] += (uint64_t)(int64_t)by;
}

// --- earlier attempts ---

static const char *copy_text(struct arena *a, const char *text)
{
	return text ? arena_copy(a, str_from(text)) : NULL;
}

static void describe_failure(const struct results_history *h, const struct missing_row *row, struct buf *out)
{
	char last[CLOCK_TEXT], retry[CLOCK_TEXT];
	clock_write(h->last, last);
	buf_printf(out, "%s in step %s, last at %s, %u time%s in a row", results_result_name[h->result],
		h->step ? h->step : "?", last, h->failures, h->failures == 1 ? "" : "s");
	if (row->attempts.retry) {
		clock_write(row->attempts.retry, retry);
		buf_printf(out, ", to be tried again at %s", retry);
	} else {
		buf_puts(out, ", not to be tried again by itself");
	}
	if (h->why && *h->why)
		buf_printf(out, ": %s", h->why);
}

static void put_attempts(const struct cell_rules *r, const struct results_history *h, struct arena *text,
	struct rows_kept *kept)
{
	struct missing_row *row = &kept->row;
	row->attempts = (struct missing_attempts){
		.count = h->failures,
		.last = h->last,
		.retry = results_retry_time(r->config, h),
		.result = results_result_name[h->result],
		.step = copy_text(text, h->step),
		.recipe = copy_text(text, h->recipe),
	};
	if (h->awaiting && *h->awaiting)
		kept->awaiting = xstrdup(h->awaiting);
	if (row->attempts.retry && row->attempts.retry <= r->now)
		return;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, WHY_MAX);
	describe_failure(h, row, &why);
	row->status = WHEEL_FAILED;
	row->why = arena_copy(text, buf_view(&why));
}

static int apply_history(const struct cell *cell, struct arena *text, struct rows_kept *kept, struct err *e)
{
	struct missing_row *row = &kept->row;
	struct results_history h;
	if (!cell->rules->results || row->status != WHEEL_MISSING)
		return 0;
	if (results_history(cell->rules->results, row->platform, row->python, row->project, row->version, &h, e) < 0)
		return -1;
	if (h.failures)
		put_attempts(cell->rules, &h, text, kept);
	results_history_release(&h);
	return 0;
}

// --- the end of a cell ---

static const char *const *copy_branches(struct arena *a, const struct rows_open *open)
{
	const char **copy = arena_alloc_aligned(a, (open->branches + 1) * sizeof(*copy));
	memcpy(copy, open->branch, open->branches * sizeof(*copy));
	return copy;
}

static int keep_row(struct missing_rows *m, const struct cell *cell, const struct rows_open *open,
	struct rows_kept *kept, struct err *e)
{
	const struct missing_environment *env = &m->out->environment[kept->environment];
	kept->row = (struct missing_row){
		.platform = env->platform,
		.python = env->python,
		.project = copy_text(&m->out->text, cell->project),
		.status = open->status.status,
		.micros = open->micros,
		.branch = copy_branches(&m->out->text, open),
		.branches = open->branches,
	};
	return cell_explain(cell, open->want, &open->status, &m->out->text, &kept->row, e) < 0 ||
			       apply_history(cell, &m->out->text, kept, e) < 0
		       ? -1
		       : 0;
}

int missing_rows_end_cell(struct missing_rows *m, const struct cell *cell, size_t environment, bool is_hidden,
	struct err *e)
{
	if (m->opened > 1)
		qsort(m->open, m->opened, sizeof(*m->open), compare_open_rows);
	for (size_t i = 0; i < m->opened; i++) {
		enum wheel_status status = m->open[i].status.status;
		if (is_kept(m, status)) {
			GROW(m->kept, m->count, m->room);
			struct rows_kept *kept = &m->kept[m->count];
			*kept = (struct rows_kept){
				.environment = environment, .order = m->count, .is_hidden = is_hidden};
			if (keep_row(m, cell, &m->open[i], kept, e) < 0)
				return -1;
			m->count++;
			status = kept->row.status;
		}
		if (!is_hidden)
			count_row(m, environment, status, 1);
	}
	m->opened = 0;
	return 0;
}

// --- what awaits another ---

void missing_rows_awaited(const struct missing_rows *m, missing_rows_name_fn *fn, void *ctx)
{
	for (size_t i = 0; i < m->count; i++) {
		struct str rest = str_from(m->kept[i].awaiting ? m->kept[i].awaiting : "");
		while (rest.len) {
			struct str name = str_cut(&rest, ' ');
			if (name_is_valid(name) && name_is_normal(name))
				fn(ctx, name);
		}
	}
}

static int compare_kept_rows(const void *a, const void *b)
{
	const struct rows_kept *left = a, *right = b;
	int order = (left->environment > right->environment) - (left->environment < right->environment);
	if (order == 0)
		order = strcmp(left->row.project, right->row.project);
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

struct rows_key {
	size_t environment;
	struct str project;
};

static bool is_before_row(const void *kept, const void *wanted)
{
	const struct rows_kept *k = kept;
	const struct rows_key *key = wanted;
	return k->environment != key->environment ? k->environment < key->environment
						  : str_cmp(str_from(k->row.project), key->project) < 0;
}

// The index of the first row of the project in this environment, or where it would be.
static size_t first_row(const struct missing_rows *m, size_t environment, struct str project)
{
	struct rows_key key = {environment, project};
	return lower_bound(&key, m->kept, m->count, sizeof(*m->kept), is_before_row);
}

static bool is_to_be_built(enum wheel_status status)
{
	return status == WHEEL_MISSING || status == WHEEL_FAILED || status == WHEEL_AWAITING;
}

static bool has_row_to_build(const struct missing_rows *m, size_t environment, struct str project)
{
	for (size_t i = first_row(m, environment, project); i < m->count; i++) {
		const struct rows_kept *k = &m->kept[i];
		if (k->environment != environment || !str_eq(str_from(k->row.project), project))
			return false;
		if (is_to_be_built(k->row.status))
			return true;
	}
	return false;
}

// The row awaits another as long as one of the build requirements is to be built too. It cannot await itself.
static void decide_awaiting(struct missing_rows *m, struct rows_kept *k)
{
	struct str rest = str_from(k->awaiting ? k->awaiting : "");
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		if (str_eq(name, str_from(k->row.project)) || !has_row_to_build(m, k->environment, name))
			continue;
		CLEANUP(mem_free)
		char *why = xasprintf("the last attempt lacked its build requirement " STR_FMT ", which is missing too",
			STR_ARG(name));
		if (!k->is_hidden) {
			count_row(m, k->environment, k->row.status, -1);
			count_row(m, k->environment, WHEEL_AWAITING, 1);
		}
		k->row.status = WHEEL_AWAITING;
		k->row.why = copy_text(&m->out->text, why);
		return;
	}
}

void missing_rows_finish(struct missing_rows *m)
{
	if (m->count)
		qsort(m->kept, m->count, sizeof(*m->kept), compare_kept_rows);
	for (size_t i = 0; i < m->count; i++)
		decide_awaiting(m, &m->kept[i]);
	m->out->row = xcalloc(m->count + 1, sizeof(*m->out->row));
	for (size_t i = 0; i < m->count; i++) {
		struct rows_kept *k = &m->kept[i];
		if (k->row.status != WHEEL_AWAITING && k->row.status != WHEEL_FAILED)
			k->row.attempts = (struct missing_attempts){0};
		if (!k->is_hidden)
			m->out->row[m->out->rows++] = k->row;
	}
}

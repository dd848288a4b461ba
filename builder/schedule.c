// SPDX-License-Identifier: Apache-2.0
#include "builder/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "builder/step/sandbox.h"
#include "lib/base/counted.h"
#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/clock.h"

const char *const schedule_state_name[SCHEDULE_STATE_COUNT] = {
	[SCHEDULE_LEFT_OUT] = "left-out",
	[SCHEDULE_READY] = "ready",
	[SCHEDULE_AWAITING] = "awaiting",
	[SCHEDULE_RUNNING] = "running",
	[SCHEDULE_GOOD] = "ok",
	[SCHEDULE_BAD] = "failed",
	[SCHEDULE_COVERED] = "covered",
	[SCHEDULE_ELSEWHERE] = "not-missing",
	[SCHEDULE_INTERRUPTED] = "interrupted",
	[SCHEDULE_WAITING] = "waiting",
};

static const char *add_text(struct arena *text, char *owned)
{
	CLEANUP(mem_free) char *held = owned;
	return arena_copy(text, str_from(held));
}

// --- which rows are taken ---

static bool is_one_of(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return count == 0;
}

static bool is_retried(enum schedule_retry retry, const struct missing_attempts *a)
{
	bool is_timed_out = a->result && strcmp(a->result, "timed-out") == 0;
	switch (retry) {
	case SCHEDULE_RETRY_NONE:
		return false;
	case SCHEDULE_RETRY_FAILED:
		return !is_timed_out;
	case SCHEDULE_RETRY_TIMED_OUT:
		return is_timed_out;
	case SCHEDULE_RETRY_ALL:
		return true;
	}
	return false;
}

static bool has_other_recipe(const struct schedule_options *o, const struct missing_row *row)
{
	char recipe[SHA256_HEX + 1];
	if (!row->attempts.recipe || !*row->attempts.recipe)
		return false;
	o->recipe(o->ctx, row, recipe);
	return strcmp(recipe, row->attempts.recipe) != 0;
}

static const char *words_of_pause(const struct missing_attempts *a, struct arena *text)
{
	char retry[CLOCK_TEXT];
	clock_write(a->retry, retry);
	if (!a->retry)
		return add_text(text, xasprintf("failed %s (%s) and is not tried again by itself",
					      COUNTED(a->count, "time|times"), a->result));
	return add_text(text, xasprintf("failed (%s), and is tried again after %s", a->result, retry));
}

static enum schedule_state judge_failed(const struct schedule_options *o, const struct missing_row *row,
	struct arena *text, const char **why)
{
	if (is_retried(o->retry, &row->attempts))
		*why = add_text(text, xasprintf("--retry, it failed before (%s)",
					      row->attempts.result ? row->attempts.result : "unknown"));
	else if (has_other_recipe(o, row))
		*why = "it failed before, with other commands or another sdist";
	else {
		*why = row->attempts.result ? words_of_pause(&row->attempts, text) : row->why;
		return SCHEDULE_LEFT_OUT;
	}
	return SCHEDULE_READY;
}

static int micro_of(const struct schedule_options *o, const struct missing_row *row)
{
	return o->micro ? o->micro(o->ctx, row->python) : PYTHON_CHECK_UNKNOWN;
}

// Branches may pin one version for some patch releases of a Python, and another version for the others.
static bool wants_micro(const struct missing_row *row, int micro)
{
	int bit = micro < SPECIFIER_MICROS ? micro : SPECIFIER_MICROS - 1;
	return micro < 0 || !row->micros || row->micros >> bit & 1;
}

enum schedule_state schedule_judge(const struct schedule_options *options, const struct missing_row *row,
	struct arena *text, const char **why)
{
	const struct schedule_options *o = options;
	*why = NULL;
	if (!is_one_of(o->python, o->pythons, row->python))
		*why = "another Python than --python";
	else if (micro_of(o, row) == PYTHON_CHECK_ABSENT)
		*why = "this builder does not have this Python";
	else if (!wants_micro(row, micro_of(o, row)))
		*why = add_text(text, xasprintf("wanted by other patch releases than this builder's %s.%d", row->python,
					      micro_of(o, row)));
	else if (!is_one_of(o->project, o->projects, row->project))
		*why = "another project than --only";
	else if (!missing_shard_has(&o->shard, row->project))
		*why = "in another shard";
	else if (!row->version || !row->sdist.filename)
		*why = "no sdist is known";
	if (*why)
		return SCHEDULE_LEFT_OUT;
	if (row->status == WHEEL_FAILED)
		return judge_failed(o, row, text, why);
	*why = arena_copy(text, str_from(row->why ? row->why : ""));
	if (row->status == WHEEL_AWAITING && o->retry != SCHEDULE_RETRY_ALL)
		return SCHEDULE_AWAITING;
	return SCHEDULE_READY;
}

// --- environments and order ---

static int make_environments(struct schedule *s, const struct missing *missing, struct err *e)
{
	s->environment = xcalloc(missing->environments + 1, sizeof(*s->environment));
	for (size_t i = 0; i < missing->environments; i++) {
		struct python python;
		const char *text = missing->environment[i].python;
		if (python_parse(str_from(text), &python, e) < 0)
			return -1;
		environment_init(&s->environment[s->environments++], s->options.machine, &python);
	}
	return 0;
}

static struct environment *environment_of(const struct schedule *s, const struct missing *missing,
	const struct missing_row *row)
{
	for (size_t i = 0; i < s->environments; i++)
		if (strcmp(missing->environment[i].python, row->python) == 0 &&
			strcmp(missing->environment[i].platform, row->platform) == 0)
			return &s->environment[i];
	return NULL;
}

static bool is_open(enum wheel_status status)
{
	return status == WHEEL_MISSING || status == WHEEL_FAILED || status == WHEEL_AWAITING;
}

static int compare_tasks(const struct schedule_row *a, const struct schedule_row *b)
{
	int order = strcmp(a->row->project, b->row->project);
	return order ? order
		     : (a->row->version && b->row->version ? strcmp(a->row->version, b->row->version)
							   : (a->row->version != NULL) - (b->row->version != NULL));
}

static int compare_by_task(const void *one, const void *other)
{
	const struct schedule_row *a = one, *b = other;
	int order = compare_tasks(a, b);
	return order ? order : (a->environment > b->environment) - (a->environment < b->environment);
}

enum { CLASS_NEW, CLASS_FAILED, CLASS_INTERRUPTED, CLASS_LAST };

// New work comes before work that failed, which may take its whole time limit again, and before work with which a
// builder ended.
static unsigned class_of(const struct schedule *s, const struct schedule_row *r)
{
	if (r->state != SCHEDULE_READY)
		return CLASS_LAST;
	CLEANUP(mem_free) char *name = xasprintf("%s %s", r->row->project, r->row->version);
	if (s->options.interrupted && strset_has(s->options.interrupted, name))
		return CLASS_INTERRUPTED;
	return r->row->status == WHEEL_FAILED || r->row->attempts.count ? CLASS_FAILED : CLASS_NEW;
}

struct row_turn { // of a row, before the order by class
	unsigned class;
	size_t index;
};

static int compare_places(const void *one, const void *other)
{
	const struct row_turn *a = one, *b = other;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

int schedule_init(struct schedule *out, const struct missing *missing, const struct schedule_options *options,
	struct err *e)
{
	struct schedule *s = out;
	*s = (struct schedule){.options = *options, .row = xcalloc(missing->rows + 1, sizeof(*s->row))};
	if (make_environments(s, missing, e) < 0) {
		schedule_release(s);
		return -1;
	}
	for (size_t i = 0; i < missing->rows; i++) {
		struct schedule_row r = {.row = &missing->row[i], .environment = environment_of(s, missing, r.row)};
		if (!is_open(r.row->status) || !r.environment)
			continue;
		r.state = schedule_judge(options, r.row, &s->text, &r.why);
		s->row[s->count++] = r;
	}
	qsort(s->row, s->count, sizeof(*s->row), compare_by_task);
	for (size_t i = 0; i < s->count; i++) {
		if (i && compare_tasks(&s->row[i - 1], &s->row[i]) != 0)
			s->tasks++;
		s->row[i].task = s->tasks;
	}
	s->tasks += s->count > 0;
	s->is_busy = xcalloc(s->tasks + 1, sizeof(*s->is_busy));
	// The class of a task is the least of its rows.
	CLEANUP(mem_free) struct row_turn *place = xcalloc(s->count + 1, sizeof(*place));
	CLEANUP(mem_free) unsigned *class = xcalloc(s->tasks + 1, sizeof(*class));
	for (size_t i = 0; i < s->tasks; i++)
		class[i] = CLASS_LAST;
	for (size_t i = 0; i < s->count; i++)
		if (class_of(s, &s->row[i]) < class[s->row[i].task])
			class[s->row[i].task] = class_of(s, &s->row[i]);
	for (size_t i = 0; i < s->count; i++)
		place[i] = (struct row_turn){class[s->row[i].task], i};
	qsort(place, s->count, sizeof(*place), compare_places);
	struct schedule_row *row = xcalloc(s->count + 1, sizeof(*row));
	for (size_t i = 0; i < s->count; i++)
		row[i] = s->row[place[i].index];
	free(s->row);
	s->row = row;
	return 0;
}

void schedule_release(struct schedule *s)
{
	for (size_t i = 0; i < s->environments; i++)
		environment_release(&s->environment[i]);
	free(s->environment);
	free(s->is_busy);
	free(s->row);
	arena_release(&s->text);
	*s = (struct schedule){0};
}

// --- trying ---

static struct schedule_row *find_next(struct schedule *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->row[i].state == SCHEDULE_READY && !s->is_busy[s->row[i].task])
			return &s->row[i];
	for (size_t i = 0; i < s->count; i++)
		if (s->row[i].state == SCHEDULE_AWAITING && s->row[i].may_go && !s->is_busy[s->row[i].task])
			return &s->row[i];
	return NULL;
}

struct schedule_row *schedule_next(struct schedule *s)
{
	struct schedule_row *r = find_next(s);
	if (!r)
		return NULL;
	r->was_awaiting = r->state == SCHEDULE_AWAITING;
	r->state = SCHEDULE_RUNNING;
	r->may_go = false;
	s->is_busy[r->task] = true;
	return r;
}

static bool has_word(const char *words, const char *word)
{
	struct str rest = str_from(words);
	while (rest.ptr)
		if (str_eq(str_cut(&rest, ' '), str_from(word)))
			return true;
	return false;
}

static bool has_wheel(const struct schedule_row *r)
{
	return r->state == SCHEDULE_GOOD || r->state == SCHEDULE_COVERED || r->state == SCHEDULE_ELSEWHERE;
}

static void let_go(struct schedule *s, const struct schedule_row *built)
{
	for (size_t i = 0; i < s->count; i++) {
		struct schedule_row *r = &s->row[i];
		bool is_same_place = r->environment == built->environment && r->task != built->task;
		if (is_same_place && (!r->awaiting || has_word(r->awaiting, built->row->project)))
			r->may_go = true;
	}
}

static void set_state(struct schedule *s, struct schedule_row *r, enum schedule_state state, const char *why)
{
	r->state = state;
	r->why = why ? arena_copy(&s->text, str_from(why)) : "";
	if (has_wheel(r))
		let_go(s, r);
}

void schedule_end(struct schedule *s, struct schedule_row *r, enum schedule_state state, const char *why)
{
	s->is_busy[r->task] = false;
	set_state(s, r, state, why);
}

bool schedule_await(struct schedule *s, struct schedule_row *r, const char *names)
{
	bool is_missing = false;
	for (size_t i = 0; i < s->count; i++) {
		const struct schedule_row *other = &s->row[i];
		bool is_named = other->environment == r->environment && has_word(names, other->row->project);
		is_missing |= is_named && other != r && !has_wheel(other);
	}
	if (!is_missing)
		return false;
	r->awaiting = arena_copy(&s->text, str_from(names));
	schedule_end(s, r, SCHEDULE_AWAITING, NULL);
	r->why = add_text(&s->text, xasprintf("its build needs %s, of which there is no wheel", names));
	return true;
}

// --- one wheel for many Pythons ---

static bool installs_for(const struct filename *wheel, const char *requires_python, const struct schedule_row *r)
{
	struct err ignored = ERR_INIT;
	long best;
	if (environment_best(r->environment, wheel, &best, &ignored) != 0 || best < 0)
		return false;
	const struct python *p = &r->environment->python;
	uint64_t wanted = r->row->micros, admitted = UINT64_MAX;
	// pip ignores an invalid one.
	if (requires_python && !specifier_micros(str_from(requires_python), p->major, p->minor, &admitted))
		return true;
	return admitted != 0 && (admitted & wanted) == wanted; // a server does not say which micro versions are wanted
}

size_t schedule_cover(struct schedule *s, const struct schedule_row *r, const char *wheel, const char *requires_python)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	size_t covered = 0;
	if (filename_parse(str_from(wheel), &name, &ignored) < 0 || name.kind != FILENAME_WHEEL)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		struct schedule_row *other = &s->row[i];
		bool is_open_row = other->state == SCHEDULE_READY || other->state == SCHEDULE_AWAITING ||
				   other->state == SCHEDULE_BAD;
		if (other->task != r->task || !is_open_row || !installs_for(&name, requires_python, other))
			continue;
		CLEANUP(mem_free) char *why = xasprintf("%s installs there", wheel);
		set_state(s, other, SCHEDULE_COVERED, why);
		covered++;
	}
	return covered;
}

void schedule_missing(const struct schedule *s, const char *python, struct strset *out)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->row[i].row->python, python) == 0 && !has_wheel(&s->row[i]))
			strset_add(out, s->row[i].row->project);
	strset_sort(out);
}

void schedule_count(const struct schedule *s, size_t count[SCHEDULE_STATE_COUNT])
{
	memset(count, 0, SCHEDULE_STATE_COUNT * sizeof(*count));
	for (size_t i = 0; i < s->count; i++)
		count[s->row[i].state]++;
}

bool schedule_is_running(const struct schedule *s)
{
	size_t count[SCHEDULE_STATE_COUNT];
	schedule_count(s, count);
	return count[SCHEDULE_RUNNING] > 0;
}

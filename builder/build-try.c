// SPDX-License-Identifier: Apache-2.0
#include "builder/build-try.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"

enum { KEPT_ANSWER_MS = 4000 };

static void say_end(struct build_state *b, const struct schedule_row *r, double seconds)
{
	const struct build_row *row = build_state_row(b, r);
	CLEANUP(mem_free)
	char *step = r->state == SCHEDULE_BAD ? xasprintf(" in %s", attempt_step_name[row->step]) : xstrdup("");
	CLEANUP(mem_free) char *time = row->id[0] ? xasprintf(" after %.0f s", seconds) : xstrdup("");
	CLEANUP(mem_free) char *id = r->state == SCHEDULE_BAD ? xasprintf(" (attempt %s)", row->id) : xstrdup("");
	const char *state = r->state == SCHEDULE_BAD ? results_result_name[row->result] : schedule_state_name[r->state];
	build_display_clear(&b->display);
	if (r->state == SCHEDULE_BAD)
		log_warn("python %s %s %s: %s%s%s: %s%s", r->row->python, r->row->project, r->row->version, state, step,
			time, r->why, id);
	else if (!b->options->is_quiet)
		log_info("python %s %s %s: %s%s%s%s", r->row->python, r->row->project, r->row->version, state, time,
			*r->why ? ": " : "", r->why);
}

// The wheel of a row installs on others.
static void say_covered(struct build_state *b, const struct schedule_row *by)
{
	const struct schedule *s = &b->report->schedule;
	for (size_t i = 0; i < s->count; i++)
		if (s->row[i].task == by->task && s->row[i].state == SCHEDULE_COVERED && !b->report->row[i].is_told) {
			b->report->row[i].is_told = true;
			say_end(b, &s->row[i], 0);
		}
}

static const struct missing_row *find_again(const struct missing *m, const struct missing_row *row)
{
	for (size_t i = 0; i < m->rows; i++) {
		const struct missing_row *r = &m->row[i];
		if (strcmp(r->python, row->python) == 0 && strcmp(r->project, row->project) == 0 && r->version &&
			strcmp(r->version, row->version) == 0)
			return r;
	}
	return NULL;
}

// What is to be done about the row by this answer: READY, or the state with which it ends. *why is for the caller to
// free.
static enum schedule_state judge_again(struct build_state *b, const struct schedule_row *r, const struct missing *now,
	char **why)
{
	CLEANUP(arena_release) struct arena text = {0};
	const struct missing_row *row = find_again(now, r->row);
	const char *reason;
	if (!row) {
		*why = xstrdup("it is no longer missing");
		return SCHEDULE_ELSEWHERE;
	}
	if (row->status != WHEEL_MISSING && row->status != WHEEL_FAILED && row->status != WHEEL_AWAITING) {
		*why = xasprintf("%s: %s", wheel_status_name[row->status], row->why);
		return SCHEDULE_LEFT_OUT;
	}
	enum schedule_state state = schedule_judge(&b->report->schedule.options, row, &text, &reason);
	*why = xstrdup(reason);
	// Its build requirement is there now, as the row's names, or the answer, say.
	return r->was_awaiting && (row->status == WHEEL_FAILED || r->awaiting) ? SCHEDULE_READY : state;
}

static int ask_once(struct build_state *b, const struct schedule_row *r, enum schedule_state *state, char **why,
	struct err *e)
{
	CLEANUP(missing_release) struct missing now = {0};
	if (build_state_list(b, r->row->python, r->row->project, &now, e) < 0)
		return -1;
	mem_free(why);
	*state = judge_again(b, r, &now, why);
	return 0;
}

// A server keeps an answer for some seconds, so it may not know yet what this build has just published.
static int ask_again(struct build_state *b, const struct schedule_row *r, enum schedule_state *state, char **why,
	struct err *e)
{
	if (ask_once(b, r, state, why, e) < 0)
		return -1;
	if (*state != SCHEDULE_AWAITING || !b->options->from || !build_state_wait(b, KEPT_ANSWER_MS))
		return 0;
	return ask_once(b, r, state, why, e);
}

// --- one attempt ---

// The row is in the results before its first step, so that a killed builder loses none.
static int put_running(struct build_state *b, const struct missing_row *row, const char *id, struct err *e)
{
	CLEANUP(mem_free) char *provenance = work_folder_provenance(&b->work);
	char recipe[SHA256_HEX + 1];
	enum results_change change;
	attempt_recipe(b->config, b->report->index, row, recipe);
	const struct results_attempt a = {
		.id = id,
		.platform = row->platform,
		.python = row->python,
		.project = row->project,
		.version = row->version,
		.result = RESULTS_RUNNING,
		.step = "",
		.why = "",
		.begun = clock_wall_seconds(),
		.files = "",
		.sdist = "",
		.awaiting = "",
		.recipe = recipe,
		.builder = b->host,
		.provenance = provenance,
	};
	pthread_mutex_lock(&b->results_lock);
	int result = results_put(b->results, &a, (struct str){0}, b->config->build_keep_results, &change, e);
	pthread_mutex_unlock(&b->results_lock);
	return result;
}

static int keep_result(struct build_state *b, struct attempt_outcome *o, struct err *e)
{
	enum results_change change;
	o->attempt.is_sent = !b->sender;
	pthread_mutex_lock(&b->results_lock);
	int result = results_put(b->results, &o->attempt, buf_view(&o->log), b->config->build_keep_results, &change, e);
	pthread_mutex_unlock(&b->results_lock);
	if (result < 0)
		return -1;
	if (b->hook)
		change_hook_add(b->hook, b->config->build_on_change, &o->attempt, change);
	if (!b->sender)
		return 0;
	pthread_mutex_lock(&b->sender_lock);
	result_sender_send(b->sender, o->attempt.id);
	pthread_mutex_unlock(&b->sender_lock);
	return 0;
}

struct step_watch {
	struct build_state *build;
	struct build_row *row;
};

static void show_step(void *ctx, enum attempt_step step)
{
	const struct step_watch *w = ctx;
	pthread_mutex_lock(&w->build->lock);
	w->row->step = step;
	pthread_mutex_unlock(&w->build->lock);
}

static void attempt_row(struct build_state *b, struct schedule_row *r, const char *id, struct attempt_outcome *out)
{
	CLEANUP(strset_release) struct strset missing = {0};
	struct step_watch watch = {b, build_state_row(b, r)};
	pthread_mutex_lock(&b->lock);
	schedule_missing(&b->report->schedule, r->row->python, &missing);
	pthread_mutex_unlock(&b->lock);
	const struct attempt_options options = {
		.id = id,
		.config = b->config,
		.environment = r->environment,
		.gate = b->gate,
		.index = b->report->index,
		.work = b->work.path,
		.from = b->options->from,
		.target = b->target.upload ? &b->target : NULL,
		.platform = row_source_platform(b->source),
		.catalog = b->options->catalog,
		.fetch = b->options->fetch,
		.missing = &missing,
		.listed = &b->report->missing,
		.host = b->host,
		.stop = b->options->stop,
		.on_step = show_step,
		.ctx = &watch,
	};
	attempt_run(&options, r->row, out);
}

// Another wheel has the name: that of another job, if one job builds for each Python. It stays, and is no failure of
// this attempt where the row is no longer missing.
static void excuse_taken(struct build_state *b, const struct schedule_row *r, struct attempt_outcome *o)
{
	struct err unknown = ERR_INIT;
	CLEANUP(mem_free) char *why = NULL;
	enum schedule_state state = SCHEDULE_READY;
	if (!o->is_taken || ask_once(b, r, &state, &why, &unknown) < 0)
		return;
	if (state != SCHEDULE_ELSEWHERE && b->options->from && build_state_wait(b, KEPT_ANSWER_MS) &&
		ask_once(b, r, &state, &why, &unknown) < 0)
		return;
	o->is_elsewhere = state == SCHEDULE_ELSEWHERE;
	if (!o->is_elsewhere)
		return;
	o->attempt.result = RESULTS_OK;
	o->attempt.why = o->attempt.files = "";
}

// What the outcome means for this row and the others. Under the lock.
static void take_outcome(struct build_state *b, struct schedule_row *r, const struct attempt_outcome *o)
{
	struct schedule *s = &b->report->schedule;
	struct build_row *row = build_state_row(b, r);
	const struct results_attempt *a = &o->attempt;
	row->result = a->result;
	row->seconds = a->seconds;
	row->wheel = o->wheel ? xstrdup(o->wheel) : NULL;
	if (o->is_elsewhere)
		schedule_end(s, r, SCHEDULE_ELSEWHERE, "another build of this wheel came first, and stays");
	else if (a->result == RESULTS_OK) {
		schedule_end(s, r, SCHEDULE_GOOD, row->wheel);
		if (row->wheel)
			schedule_cover(s, r, row->wheel, o->requires_python);
	} else if (a->result == RESULTS_INTERRUPTED || a->result == RESULTS_WAITING)
		schedule_end(s, r, a->result == RESULTS_WAITING ? SCHEDULE_WAITING : SCHEDULE_INTERRUPTED, a->why);
	else if (!*a->awaiting || !schedule_await(s, r, a->awaiting))
		schedule_end(s, r, SCHEDULE_BAD, a->why);
	if (o->is_hopeless) {
		struct err why = ERR_INIT;
		err_set(&why, ERR_DENIED, "no more rows are taken: %s", a->why);
		build_state_stop(b, &why);
	}
}

static int try_row(struct build_state *b, struct schedule_row *r, struct err *e)
{
	CLEANUP(attempt_outcome_release) struct attempt_outcome o = {0};
	struct build_row *row = build_state_row(b, r);
	char id[RESULTS_ID + 1];
	results_new_id(id);
	if (put_running(b, r->row, id, e) < 0)
		return -1;
	pthread_mutex_lock(&b->lock);
	memcpy(row->id, id, sizeof(id));
	row->begun_ms = clock_ms();
	row->step = ATTEMPT_NONE;
	r->was_tried = true;
	pthread_mutex_unlock(&b->lock);
	attempt_row(b, r, id, &o);
	excuse_taken(b, r, &o);
	int result = keep_result(b, &o, e);
	pthread_mutex_lock(&b->lock);
	take_outcome(b, r, &o);
	say_end(b, r, o.attempt.seconds);
	say_covered(b, r);
	pthread_mutex_unlock(&b->lock);
	return result;
}

static void end_row(struct build_state *b, struct schedule_row *r, enum schedule_state state, const char *why)
{
	pthread_mutex_lock(&b->lock);
	schedule_end(&b->report->schedule, r, state, why);
	if (state == SCHEDULE_ELSEWHERE)
		say_end(b, r, 0);
	pthread_mutex_unlock(&b->lock);
}

int build_try_row(struct build_state *b, struct schedule_row *r, struct err *e)
{
	CLEANUP(mem_free) char *why = NULL;
	enum schedule_state state = SCHEDULE_READY;
	if (ask_again(b, r, &state, &why, e) < 0) {
		end_row(b, r, r->was_awaiting ? SCHEDULE_AWAITING : SCHEDULE_READY, "it could not be asked again");
		return -1;
	}
	if (state == SCHEDULE_READY)
		return try_row(b, r, e);
	end_row(b, r, state, why);
	return 0;
}

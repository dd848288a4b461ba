// SPDX-License-Identifier: Apache-2.0
#include "builder/build.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/build-server.h"
#include "builder/index-guard.h"
#include "builder/run/run.h"
#include "builder/step/sandbox.h"
#include "builder/work-folder.h"
#include "lib/audit/wheel-gate.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/os/processors.h"
#include "lib/os/thread-pool.h"
#include "lib/state/config/state-files.h"
#include "lib/state/results/change-hook.h"
#include "lib/state/results/results.h"
#include "uploader/upload-client.h"

// --- the state of a running build ---

// Its workers share it. One lock for each thing that only one thread at a time may use.
struct build_state {
	const struct build_options *options;
	const struct config *config;
	struct upload_url target; // where wheels go; upload NULL: our own store
	char *base;               // of the server that is fed, for results; NULL: none
	char host[256];
	struct work_folder work;
	struct wheel_gate *gate; // NULL: wheels are not audited

	pthread_mutex_t source_lock; // of source
	struct row_source *source;
	pthread_mutex_t results_lock; // of results
	struct results *results;      // NULL: a dry run, and nothing was built before
	pthread_mutex_t sender_lock;  // of sender and sent
	struct results *sent;         // its connection
	struct result_sender *sender; // NULL: no server
	struct hook_queue *hook;      // on-change; NULL: a server runs its own

	pthread_mutex_t lock; // of all below
	pthread_cond_t changed;
	struct build_report *report;
	struct build_display display;
	struct strset interrupted; // "PROJECT VERSION", sorted
	int *micro;                // of the environments of the report: sandbox_python_micro()
	unsigned workers;          // that run
};

enum {
	ASK_TRIES = 7,     // of a server that does not answer
	ASK_WAIT_MS = 500, // before the second try; it doubles
	HOOK_SECONDS = 60, // for the changes that are left at the end
};

static void build_state_release(struct build_state *b)
{
	hook_queue_free(b->hook, HOOK_SECONDS);
	result_sender_free(b->sender);
	results_close(b->sent);
	row_source_close(b->source);
	results_close(b->results);
	work_folder_release(&b->work);
	upload_url_release(&b->target);
	strset_release(&b->interrupted);
	free(b->micro);
	free(b->base);
	wheel_gate_unref(b->gate);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	pthread_mutex_destroy(&b->sender_lock);
	pthread_mutex_destroy(&b->results_lock);
	pthread_mutex_destroy(&b->source_lock);
}

static bool build_state_is_stopped(const struct build_state *b)
{
	return b->options->stop && atomic_load(b->options->stop);
}

// No more rows are taken, for this reason. Under the lock.
static void build_state_stop(struct build_state *b, const struct err *why)
{
	if (b->report->stop.kind != ERR_NONE)
		return;
	b->report->stop = *why;
	pthread_cond_broadcast(&b->changed);
}

// What the report says beside the schedule's row. Under the lock.
static struct build_row *build_state_row(struct build_state *b, const struct schedule_row *r)
{
	return &b->report->row[r - b->report->schedule.row];
}

// Waits so long without the lock. False if the build is stopped, or takes no more rows.
static bool build_state_wait(struct build_state *b, int64_t ms)
{
	int64_t end = clock_ms() + ms;
	pthread_mutex_lock(&b->lock);
	while (!build_state_is_stopped(b) && b->report->stop.kind == ERR_NONE && clock_wait(&b->changed, &b->lock, end))
		;
	bool goes_on = !build_state_is_stopped(b) && b->report->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&b->lock);
	return goes_on;
}

// row_source_list(), which is tried again while the server does not answer, for half a minute at most. Without the
// lock.
static int build_state_list(struct build_state *b, const char *python, const char *project, struct missing *out,
	struct err *e)
{
	for (unsigned try = 0;; try++) {
		pthread_mutex_lock(&b->source_lock);
		int result = row_source_list(b->source, python, project, out, e);
		pthread_mutex_unlock(&b->source_lock);
		if (result == 0 || e->kind != ERR_NET || try + 1 == ASK_TRIES)
			return result;
		if (!build_state_wait(b, (int64_t)ASK_WAIT_MS << try))
			return -1;
		*e = (struct err)ERR_INIT;
	}
}

// --- one row ---
//
// Asks again whether it is still missing, tries it, keeps and sends the result, and ends it in the
// schedule. Any thread of the build, one at a time per row.

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
	// The wheel of a row installs on others.
	const struct schedule *s = &b->report->schedule;
	for (size_t i = 0; i < s->count; i++)
		if (s->row[i].task == r->task && s->row[i].state == SCHEDULE_COVERED && !b->report->row[i].is_told) {
			b->report->row[i].is_told = true;
			say_end(b, &s->row[i], 0);
		}
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

// A row that fails is no error. ERR_NET: the server does not answer, and the row is not tried; other errors: it cannot
// be asked, or our own files cannot be written. Then no other row need be tried.
static int build_try_row(struct build_state *b, struct schedule_row *r, struct err *e)
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

// --- all rows ---

enum {
	WATCH_MS = 250,
	SEND_SECONDS = 60, // without an answer to a result
};

// The next row; NULL: there is none any more. Under the lock.
static struct schedule_row *wait_for_row(struct build_state *b)
{
	struct schedule *s = &b->report->schedule;
	for (;;) {
		if (build_state_is_stopped(b) || b->report->stop.kind != ERR_NONE)
			return NULL;
		struct schedule_row *r = schedule_next(s);
		if (r || !schedule_is_running(s))
			return r;
		pthread_cond_wait(&b->changed, &b->lock);
	}
}

static void run_worker(void *job)
{
	struct build_state *b = job;
	struct schedule_row *r;
	pthread_mutex_lock(&b->lock);
	while ((r = wait_for_row(b))) {
		struct err e = ERR_INIT;
		pthread_mutex_unlock(&b->lock);
		int result = build_try_row(b, r, &e);
		pthread_mutex_lock(&b->lock);
		if (result < 0 && !build_state_is_stopped(b))
			build_state_stop(b, &e);
		pthread_cond_broadcast(&b->changed);
	}
	b->workers--;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static void run_all(struct build_state *b)
{
	uint64_t jobs = b->config->build_jobs ? b->config->build_jobs : processors_find("").count;
	b->workers = jobs < b->report->schedule.tasks ? (unsigned)jobs : (unsigned)b->report->schedule.tasks;
	if (!b->workers)
		return;
	if (b->config->build_memory && !b->options->is_quiet)
		log_info("[build] memory limits %s", run_memory_limit_kind());
	struct thread_pool *pool = thread_pool_new(b->workers, THREAD_POOL_FIRST_IN_FIRST_OUT, "build");
	build_display_begin(&b->display, !b->options->is_quiet);
	for (unsigned i = b->workers; i-- > 0;)
		thread_pool_submit(pool, run_worker, b);
	// Shows the progress, and wakes workers that wait when the build is stopped.
	bool is_told = false;
	pthread_mutex_lock(&b->lock);
	while (b->workers) {
		build_display_draw(&b->display, b->report);
		clock_wait(&b->changed, &b->lock, clock_ms() + WATCH_MS);
		if (!build_state_is_stopped(b))
			continue;
		build_display_clear(&b->display);
		if (!is_told)
			log_warn("stopping: the running attempts end, and are taken again by the next run");
		is_told = true;
		pthread_cond_broadcast(&b->changed);
	}
	build_display_clear(&b->display);
	pthread_mutex_unlock(&b->lock);
	thread_pool_free(pool);
}

// --- before and after ---

static void write_recipe(void *ctx, const struct missing_row *row, char out[SHA256_HEX + 1])
{
	const struct build_state *b = ctx;
	attempt_recipe(b->config, b->report->index, row, out);
}

static int find_machine(struct build_state *b, struct err *e)
{
	const char *name = b->options->platform;
	const struct profile_keys none = {0};
	CLEANUP(profile_release) struct profile profile = {0};
	const struct config_platform *p = NULL;
	for (size_t i = 0; i < b->config->platform_count; i++)
		if (strcmp(b->config->platforms[i].name, name) == 0)
			p = &b->config->platforms[i];
	if ((p ? config_profile(p, &profile, e) : profile_init(&profile, name, &none, e)) < 0)
		return -1;
	b->report->machine = profile.machine;
	return b->report->machine.arch
		       ? 0
		       : err_set(e, ERR_USAGE,
				 "--platform: the machines of %s are not known: see [platform %s] pythons, arch, "
				 "libc in wheelcache.conf(5)",
				 name, name);
}

static int check_index(struct build_state *b, struct err *e)
{
	CLEANUP(mem_free) char *note = NULL;
	const struct index_guard guard = {
		.config = b->config,
		.index = b->report->index,
		.platform = b->options->platform,
		.from = b->options->from,
		.to = b->base,
		.fetch = &b->options->fetch,
	};
	if (index_guard_check(&guard, &note, e) < 0)
		return -1;
	if (note && !b->options->is_quiet)
		log_info("%s", note);
	return 0;
}

// A server that does not answer does not hold up the end of the build.
static bool continue_asking(void *ctx, uint64_t sent UNUSED)
{
	return !build_state_is_stopped(ctx);
}

static int open_source(struct build_state *b, struct err *e)
{
	const struct build_options *o = b->options;
	if (!o->from)
		return row_source_of_store(b->config, o->catalog, o->platform, o->rebuild, &b->source, e);
	struct fetch_options fetch = o->fetch;
	fetch.progress = continue_asking;
	fetch.ctx = b;
	b->source = row_source_of_server(o->from, o->platform, o->rebuild, &fetch);
	return 0;
}

// A dry run reads the results, if there are any.
static int open_results(struct build_state *b, struct err *e)
{
	if (results_open_of(b->config, b->options->catalog, !b->options->is_dry_run, &b->results, e) < 0)
		return -1;
	if (b->options->is_dry_run)
		return 0;
	if (!b->base) {
		b->hook = hook_queue_new("[build]");
		return 0;
	}
	if (results_open_of(b->config, b->options->catalog, true, &b->sent, e) < 0)
		return -1;
	struct fetch_options fetch = b->options->fetch;
	fetch.stall_seconds = SEND_SECONDS;
	b->sender = result_sender_new(b->base, b->options->platform, &fetch, b->sent);
	return 0;
}

// The upload URL, and the server that it belongs to.
static int find_target(struct build_state *b, struct err *e)
{
	const struct build_options *o = b->options;
	CLEANUP(mem_free) char *own = o->from ? xasprintf("%supload/%s/", o->from, o->platform) : NULL;
	const char *url = o->to ? o->to : own;
	if (!url)
		return 0;
	if (upload_url_init(&b->target, url, e) < 0)
		return err_prefix(e, "--to: ");
	if (strcmp(b->target.platform, o->platform) != 0)
		return err_set(e, ERR_USAGE, "--to is the upload URL of %s, not of %s", b->target.platform,
			o->platform);
	size_t path = strlen("upload//") + strlen(o->platform);
	b->base = xstrndup(b->target.upload, strlen(b->target.upload) - path);
	return 0;
}

// A failure that this builder knows and the server does not, since it could not be sent, or since another builder tried
// the row later with other commands: the pause holds all the same.
static int add_own_history(struct build_state *b, struct missing *m, struct missing_row *row, struct err *e)
{
	CLEANUP(results_history_release) struct results_history h = {0};
	char recipe[SHA256_HEX + 1];
	bool is_open = row->status == WHEEL_MISSING || row->status == WHEEL_FAILED;
	if (!b->results || !is_open || !row->version || !row->sdist.filename)
		return 0;
	if (results_history(b->results, row->platform, row->python, row->project, row->version, &h, e) < 0)
		return -1;
	int64_t retry = results_retry_time(b->config, &h);
	attempt_recipe(b->config, b->report->index, row, recipe);
	if (!h.failures || (retry && retry <= clock_wall_seconds()) || strcmp(h.recipe, recipe) != 0)
		return 0;
	row->status = WHEEL_FAILED;
	row->attempts = (struct missing_attempts){
		.count = h.failures,
		.last = h.last,
		.retry = retry,
		.result = results_result_name[h.result],
		.step = arena_copy(&m->text, str_from(h.step)),
		.recipe = arena_copy(&m->text, str_from(h.recipe)),
	};
	return 0;
}

static int read_rows(struct build_state *b, struct err *e)
{
	const struct build_options *o = b->options;
	struct missing *m = &b->report->missing;
	if (build_state_list(b, o->pythons == 1 ? o->python[0] : NULL, NULL, m, e) < 0) {
		e->kind = e->kind == ERR_NOT_FOUND ? ERR_USAGE : e->kind; // no such platform, or no such server
		return -1;
	}
	for (size_t i = 0; i < m->rows; i++) {
		if (strcmp(m->row[i].platform, o->platform) != 0)
			return err_set(e, ERR_INVALID, "%s: the answer is about %s", o->from ? o->from : "the store",
				m->row[i].platform);
		b->report->unknown += m->row[i].status == WHEEL_UNKNOWN;
		if (add_own_history(b, m, &m->row[i], e) < 0)
			return -1;
	}
	return 0;
}

static int add_interrupted(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	CLEANUP(mem_free) char *name = xasprintf("%s %s", a->project, a->version);
	strset_add(ctx, name);
	return 0;
}

static bool has_open_row(const struct missing *m, const char *python)
{
	for (size_t i = 0; i < m->rows; i++)
		if (strcmp(m->row[i].python, python) == 0 &&
			(m->row[i].status == WHEEL_MISSING || m->row[i].status == WHEEL_FAILED ||
				m->row[i].status == WHEEL_AWAITING))
			return true;
	return false;
}

static int micro_of_python(void *ctx, const char *python)
{
	const struct build_state *b = ctx;
	const struct missing *m = &b->report->missing;
	for (size_t i = 0; i < m->environments; i++)
		if (strcmp(m->environment[i].python, python) == 0)
			return b->micro[i];
	return PYTHON_CHECK_UNKNOWN;
}

static int make_schedule(struct build_state *b, struct err *e)
{
	const struct build_options *o = b->options;
	const struct schedule_options options = {
		.python = o->python,
		.pythons = o->pythons,
		.project = o->project,
		.projects = o->projects,
		.shard = o->shard,
		.retry = o->retry,
		.machine = &b->report->machine,
		.interrupted = &b->interrupted,
		.micro = micro_of_python,
		.recipe = write_recipe,
		.ctx = b,
	};
	if (read_rows(b, e) < 0)
		return -1;
	const struct results_filter filter = {
		.platform = b->options->platform, .result = results_result_name[RESULTS_INTERRUPTED]};
	if (b->results && results_list(b->results, &filter, add_interrupted, &b->interrupted, e) < 0)
		return -1;
	strset_sort(&b->interrupted);
	// A builder may lack a Python of the platform, which another builder has. A dry run runs nothing, so it does
	// not look.
	const struct missing *m = &b->report->missing;
	b->micro = xcalloc(m->environments + 1, sizeof(*b->micro));
	for (size_t i = 0; i < m->environments; i++) {
		const char *python = m->environment[i].python;
		b->micro[i] = PYTHON_CHECK_UNKNOWN;
		if (b->options->is_dry_run || build_state_is_stopped(b) || !has_open_row(m, python))
			continue;
		b->micro[i] =
			sandbox_python_micro(b->config, b->work.path, b->options->platform, python, b->report->index);
		if (b->micro[i] == PYTHON_CHECK_ABSENT && !b->options->is_quiet)
			log_info("Python %s is left out: this builder does not have it", python);
	}
	if (schedule_init(&b->report->schedule, &b->report->missing, &options, e) < 0)
		return -1;
	b->report->row = xcalloc(b->report->schedule.count + 1, sizeof(*b->report->row));
	return 0;
}

// Takes the work folder, and ends what a killed builder left there.
static int begin_work(struct build_state *b, struct err *e)
{
	if (b->options->is_dry_run)
		return 0;
	CLEANUP(mem_free) char *results_path = state_file(b->config, b->options->catalog, STATE_FILE_BUILDS);
	if (work_folder_open(b->config, results_path, b->options->platform, &b->work, e) < 0 ||
		work_folder_recover(&b->work, b->results, b->config, b->host, e) < 0)
		return -1;
	if (!b->sender)
		return 0;
	if (result_sender_probe(b->sender, e) < 0)
		return -1;
	result_sender_flush(b->sender); // so that the server knows these failures before it says what is missing
	return 0;
}

int build_run(const struct build_options *options, struct build_report *out, struct err *e)
{
	CLEANUP(build_state_release) struct build_state b;
	*out = (struct build_report){.platform = options->platform,
		.is_dry_run = options->is_dry_run,
		.index = index_guard_index(options->config)};
	b = (struct build_state){.options = options, .config = options->config, .report = out};
	pthread_mutex_init(&b.source_lock, NULL);
	pthread_mutex_init(&b.results_lock, NULL);
	pthread_mutex_init(&b.sender_lock, NULL);
	pthread_mutex_init(&b.lock, NULL);
	clock_cond_init(&b.changed);
	if (gethostname(b.host, sizeof(b.host) - 1) < 0 || !b.host[0])
		snprintf(b.host, sizeof(b.host), "localhost");
	if (wheel_gate_new(options->config, &b.gate, e) < 0 || find_target(&b, e) < 0 || find_machine(&b, e) < 0 ||
		check_index(&b, e) < 0 || open_results(&b, e) < 0 || open_source(&b, e) < 0 || begin_work(&b, e) < 0 ||
		make_schedule(&b, e) < 0)
		return -1;
	if (options->is_dry_run)
		return 0;
	run_all(&b);
	out->is_interrupted = build_state_is_stopped(&b);
	if (b.sender)
		out->unsent = result_sender_flush(b.sender);
	return 0;
}

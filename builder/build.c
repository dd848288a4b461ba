// SPDX-License-Identifier: Apache-2.0
#include "builder/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/build-try.h"
#include "builder/index-guard.h"
#include "builder/python-check.h"
#include "builder/run/run.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/thread-pool.h"

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

static unsigned number_of_jobs(const struct build_state *b)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t jobs = b->config->build_jobs ? b->config->build_jobs : processors > 0 ? (uint64_t)processors : 1;
	return jobs < b->report->schedule.tasks ? (unsigned)jobs : (unsigned)b->report->schedule.tasks;
}

// Shows the progress, and wakes workers that wait when the build is stopped.
static void watch_workers(struct build_state *b)
{
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
}

static void say_memory_limit(const struct build_state *b)
{
	if (b->config->build_memory && !b->options->is_quiet)
		log_info("[build] memory limits %s", run_memory_limit_kind());
}

static void run_all(struct build_state *b)
{
	b->workers = number_of_jobs(b);
	if (!b->workers)
		return;
	say_memory_limit(b);
	struct thread_pool *pool = thread_pool_new(b->workers, THREAD_POOL_FIRST_IN_FIRST_OUT, "build");
	build_display_begin(&b->display, !b->options->is_quiet);
	for (unsigned i = b->workers; i-- > 0;)
		thread_pool_submit(pool, run_worker, b);
	watch_workers(b);
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
		return row_source_of_store(b->config, o->catalog, b->results_path, o->platform, o->rebuild, &b->source,
			e);
	struct fetch_options fetch = o->fetch;
	fetch.progress = continue_asking;
	fetch.ctx = b;
	b->source = row_source_of_server(o->from, o->platform, o->rebuild, &fetch);
	return 0;
}

// A dry run reads the results, if there are any.
static int open_results(struct build_state *b, struct err *e)
{
	struct err missing = ERR_INIT;
	b->results_path = results_path(b->config, b->options->catalog);
	if (b->options->is_dry_run && results_open_read(b->results_path, &b->results, &missing) < 0)
		return missing.kind == ERR_NOT_FOUND ? 0 : (*e = missing, -1);
	if (b->options->is_dry_run)
		return 0;
	if (results_open(b->results_path, &b->results, e) < 0)
		return -1;
	if (!b->base) {
		b->hook = hook_queue_new("[build]");
		return 0;
	}
	if (results_open(b->results_path, &b->sent, e) < 0)
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

static int read_interrupted(struct build_state *b, struct err *e)
{
	const struct results_filter filter = {
		.platform = b->options->platform, .result = results_result_name[RESULTS_INTERRUPTED]};
	if (b->results && results_list(b->results, &filter, add_interrupted, &b->interrupted, e) < 0)
		return -1;
	strset_sort(&b->interrupted);
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

// A builder may lack a Python of the platform, which another builder has. A dry run runs nothing, so it does not look.
static void check_pythons(struct build_state *b)
{
	const struct missing *m = &b->report->missing;
	b->micro = xcalloc(m->environments + 1, sizeof(*b->micro));
	for (size_t i = 0; i < m->environments; i++) {
		const char *python = m->environment[i].python;
		b->micro[i] = PYTHON_CHECK_UNKNOWN;
		if (b->options->is_dry_run || build_state_is_stopped(b) || !has_open_row(m, python))
			continue;
		b->micro[i] = python_check_micro(b->config, b->work.path, b->options->platform, python);
		if (b->micro[i] == PYTHON_CHECK_ABSENT && !b->options->is_quiet)
			log_info("Python %s is left out: this builder does not have it", python);
	}
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
	if (read_rows(b, e) < 0 || read_interrupted(b, e) < 0)
		return -1;
	check_pythons(b);
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
	if (work_folder_open(b->config, b->results_path, b->options->platform, &b->work, e) < 0 ||
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
	build_state_init(&b, options, out);
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

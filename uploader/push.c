// SPDX-License-Identifier: Apache-2.0
#include "uploader/push.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/os/clock.h"
#include "lib/os/thread-pool.h"
#include "uploader/upload-client.h"

enum {
	FIRST_WAIT_MS = 250,       // before the second try; twice as long before each further one
	LONGEST_WAIT_MS = 16000,   // of these
	LONGEST_ASKED_MS = 600000, // of those that a server asks for: beyond it we give up
	PROGRESS_MS = 100,
};

struct project {
	struct push *push;
	const char *name; // of one of its files
	struct remote_page *page;
	struct remote_answer answer; // to the question for the page
};

struct item {
	struct push *push;
	struct pushed_file *file;
	struct project *project;
};

// A fetch, and what it is doing just now.
struct worker {
	struct push *push;
	struct worker *next; // idle
	struct fetch *fetch;
	uint64_t sent; // of the file under way
};

struct push {
	const struct push_options *options;
	struct pool *pool;
	struct item *item;
	size_t count;
	struct project *project; // each once, by name
	size_t project_count;

	pthread_mutex_t lock; // of all below
	pthread_cond_t stopping;
	struct worker *idle;
	struct err stop; // ERR_NONE: go on
	struct push_progress progress;
	uint64_t under_way; // bytes of files that are not done
	int64_t told_ms;
};

// --- workers, progress, waiting ---

static bool is_stopped(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	bool stopped = p->stop.kind != ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return stopped;
}

// The first reason is the one that is told.
static void stop_all(struct push *p, const struct err *why)
{
	pthread_mutex_lock(&p->lock);
	if (p->stop.kind == ERR_NONE)
		p->stop = *why;
	pthread_cond_broadcast(&p->stopping);
	pthread_mutex_unlock(&p->lock);
}

// Under the lock.
static void tell_progress(struct push *p, bool at_once)
{
	int64_t now = clock_ms();
	if (!p->options->progress || (!at_once && now - p->told_ms < PROGRESS_MS))
		return;
	struct push_progress progress = p->progress;
	p->told_ms = now;
	progress.bytes += p->under_way;
	p->options->progress(p->options->ctx, &progress);
}

static bool on_sent(void *ctx, uint64_t sent)
{
	struct worker *w = ctx;
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	p->under_way += sent - w->sent; // modulo 2^64 where a try begins anew
	w->sent = sent;
	tell_progress(p, false);
	bool goes_on = p->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return goes_on;
}

static struct worker *take_worker(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	struct worker *w = p->idle;
	if (w)
		p->idle = w->next;
	pthread_mutex_unlock(&p->lock);
	if (w)
		return w;
	w = xcalloc(1, sizeof(*w));
	w->push = p;
	struct fetch_options options = p->options->fetch;
	options.progress = on_sent;
	options.ctx = w;
	w->fetch = fetch_new(&options);
	return w;
}

static void give_worker(struct worker *w)
{
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	w->next = p->idle;
	p->idle = w;
	pthread_mutex_unlock(&p->lock);
}

static void free_workers(struct push *p)
{
	while (p->idle) {
		struct worker *w = p->idle;
		p->idle = w->next;
		fetch_free(w->fetch);
		free(w);
	}
}

static int64_t pause_of(unsigned try, uint64_t retry_after)
{
	int64_t ms = FIRST_WAIT_MS;
	while (try-- && ms < LONGEST_WAIT_MS)
		ms *= 2;
	if (retry_after > LONGEST_ASKED_MS / 1000)
		return -1;
	int64_t asked = (int64_t)retry_after * 1000;
	return asked > ms ? asked : ms;
}

// Waits before the next try. False where there is none: tried often enough, stopped, or the server
// wants more time than we have.
static bool wait_for_next(struct push *p, unsigned try, uint64_t retry_after)
{
	int64_t pause = pause_of(try, retry_after);
	if (try >= p->options->retries || pause < 0)
		return false;
	int64_t end = clock_ms() + pause;
	pthread_mutex_lock(&p->lock);
	while (p->stop.kind == ERR_NONE && clock_wait(&p->stopping, &p->lock, end))
		;
	bool goes_on = p->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return goes_on;
}

// --- the files' examination ---

static void examine(void *job)
{
	struct item *item = job;
	struct pushed_file *f = item->file;
	if (parcel_read(&f->parcel, &f->why) < 0)
		f->outcome = PUSHED_BAD;
}

// --- what is there ---

static void ask(void *job)
{
	struct project *project = job;
	struct push *p = project->push;
	struct worker *w = take_worker(p);
	remote_page_free(project->page);
	project->page = NULL;
	for (unsigned try = 0; !is_stopped(p); try++) {
		remote_ask(w->fetch, p->options->target, project->name, &project->page,
			&project->answer);
		if (project->answer.word != REMOTE_AGAIN ||
			!wait_for_next(p, try, project->answer.retry_after))
			break;
	}
	if (project->answer.word == REMOTE_STOP)
		stop_all(p, &project->answer.why);
	give_worker(w);
}

static void settle(struct item *item, enum pushed_outcome outcome, const struct err *why)
{
	item->file->outcome = outcome;
	item->file->why = why ? *why : (struct err)ERR_INIT;
}

static void settle_conflict(struct item *item)
{
	struct err why = ERR_INIT;
	err_set(&why, ERR_CONFLICT, "other bytes are there under this name");
	settle(item, PUSHED_CONFLICT, &why);
}

// Whether the page has settled it.
static bool is_settled(struct item *item, const struct remote_page *page)
{
	switch (remote_state(page, &item->file->parcel)) {
	case REMOTE_SAME:
		// What was sent and came to nothing here may have come to something there.
		settle(item, item->file->sent ? PUSHED_NEW : PUSHED_THERE, NULL);
		item->file->is_listed = true;
		return true;
	case REMOTE_OTHER:
		settle_conflict(item);
		return true;
	case REMOTE_ABSENT:
		break;
	}
	return false;
}

// --- sending ---

// False where it cannot be: it is not the file any more that was read.
static bool send_once(struct worker *w, struct item *item, struct remote_answer *answer)
{
	struct pushed_file *f = item->file;
	CLEANUP(mem_close) int fd = parcel_open(&f->parcel, &f->why);
	if (fd < 0) {
		f->outcome = PUSHED_BAD;
		return false;
	}
	f->sent++;
	remote_send(w->fetch, item->push->options->target, &f->parcel, fd, answer);
	return true;
}

// After a mishap: nobody knows what became of it but the page. A page that cannot be had says
// nothing, and the next try goes on.
static bool is_there_by_now(struct worker *w, struct item *item)
{
	CLEANUP(remote_page_cleanup) struct remote_page *page = NULL;
	struct remote_answer answer;
	remote_ask(
		w->fetch, item->push->options->target, item->file->parcel.project, &page, &answer);
	return answer.word == REMOTE_GOOD && is_settled(item, page);
}

static const enum pushed_outcome outcome_of[] = {
	[REMOTE_GOOD] = PUSHED_NEW,
	[REMOTE_KEPT] = PUSHED_KEPT,
	[REMOTE_CONFLICT] = PUSHED_CONFLICT,
	[REMOTE_REFUSED] = PUSHED_REFUSED,
	[REMOTE_AGAIN] = PUSHED_FAILED,
	[REMOTE_STOP] = PUSHED_NOT_TRIED,
};

static void try_to_send(struct worker *w, struct item *item)
{
	struct push *p = item->push;
	struct remote_answer answer;
	for (unsigned try = 0;; try++) {
		if (!send_once(w, item, &answer))
			return;
		if (answer.word != REMOTE_AGAIN)
			break;
		bool goes_on = wait_for_next(p, try, answer.retry_after);
		if (is_stopped(p)) {
			settle(item, PUSHED_NOT_TRIED, NULL);
			return;
		}
		if (is_there_by_now(w, item))
			return;
		if (!goes_on)
			break;
	}
	settle(item, outcome_of[answer.word], answer.word == REMOTE_GOOD ? NULL : &answer.why);
	if (answer.word == REMOTE_STOP)
		stop_all(p, &answer.why);
}

static void count_done(struct worker *w, const struct item *item)
{
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	p->under_way -= w->sent;
	w->sent = 0;
	p->progress.files++;
	p->progress.bytes += (uint64_t)item->file->parcel.st.st_size;
	tell_progress(p, true);
	pthread_mutex_unlock(&p->lock);
}

static void send_file(void *job)
{
	struct item *item = job;
	struct worker *w = take_worker(item->push);
	if (!is_stopped(item->push))
		try_to_send(w, item);
	count_done(w, item);
	give_worker(w);
}

// --- the four rounds ---

// Between them nothing runs, so that what one wrote the next may read.

static int by_project(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
	return strcmp(x->file->parcel.project, y->file->parcel.project);
}

static struct item **sound_items(struct push *p, size_t *count)
{
	struct item **list = xcalloc(p->count + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; i < p->count; i++)
		if (p->item[i].file->outcome != PUSHED_BAD)
			list[(*count)++] = &p->item[i];
	return list;
}

static void find_projects(struct push *p)
{
	size_t count;
	CLEANUP(mem_free) struct item **list = sound_items(p, &count);
	qsort(list, count, sizeof(*list), by_project);
	p->project = xcalloc(count + 1, sizeof(*p->project));
	for (size_t i = 0; i < count; i++) {
		const char *name = list[i]->file->parcel.project;
		if (!i || strcmp(name, p->project[p->project_count - 1].name) != 0)
			p->project[p->project_count++] = (struct project){p, name, NULL, {0}};
		list[i]->project = &p->project[p->project_count - 1];
	}
}

static void examine_all(struct push *p)
{
	for (size_t i = 0; i < p->count; i++)
		pool_submit(p->pool, examine, &p->item[i]);
	pool_drain(p->pool);
	find_projects(p);
}

static void ask_all(struct push *p)
{
	for (size_t i = 0; i < p->project_count; i++)
		pool_submit(p->pool, ask, &p->project[i]);
	pool_drain(p->pool);
}

// Whether it is to be sent, now that the pages are known.
static bool is_wanted(struct item *item)
{
	if (!item->project || is_stopped(item->push))
		return false;
	if (item->project->answer.word == REMOTE_AGAIN) {
		settle(item, PUSHED_FAILED, &item->project->answer.why);
		return false;
	}
	return !is_settled(item, item->project->page);
}

static void send_all(struct push *p)
{
	CLEANUP(mem_free) bool *wanted = xcalloc(p->count + 1, sizeof(*wanted));
	for (size_t i = 0; i < p->count; i++) {
		wanted[i] = is_wanted(&p->item[i]);
		p->progress.all_files += wanted[i];
		if (wanted[i])
			p->progress.all_bytes += (uint64_t)p->item[i].file->parcel.st.st_size;
	}
	for (size_t i = 0; i < p->count; i++)
		if (wanted[i])
			pool_submit(p->pool, send_file, &p->item[i]);
	pool_drain(p->pool);
}

// What was taken and is not on the page comes there later: a served replica follows its volume.
static void confirm(struct item *item)
{
	struct err why = ERR_INIT;
	struct remote_answer kept;
	const struct project *project = item->project;
	if (project->answer.word != REMOTE_GOOD) {
		why = project->answer.why;
		err_prefix(&why, "it was taken, but the page does not say so: ");
		settle(item, PUSHED_FAILED, &why);
		return;
	}
	switch (remote_state(project->page, &item->file->parcel)) {
	case REMOTE_SAME:
		item->file->is_listed = true;
		break;
	case REMOTE_OTHER:
		remote_say_kept(&kept);
		settle(item, PUSHED_KEPT, &kept.why);
		break;
	case REMOTE_ABSENT:
		break;
	}
}

static bool needs_confirmation(const struct item *item)
{
	return item->file->outcome == PUSHED_NEW && !item->file->is_listed;
}

static void confirm_all(struct push *p)
{
	struct project *last = NULL;
	size_t count;
	CLEANUP(mem_free) struct item **list = sound_items(p, &count);
	qsort(list, count, sizeof(*list), by_project);
	for (size_t i = 0; i < count; i++)
		if (needs_confirmation(list[i]) && list[i]->project != last) {
			last = list[i]->project;
			pool_submit(p->pool, ask, last);
		}
	pool_drain(p->pool);
	for (size_t i = 0; i < count && !is_stopped(p); i++)
		if (needs_confirmation(list[i]))
			confirm(list[i]);
}

static void push_begin(
	struct push *p, const struct push_options *options, char **paths, struct pushed *out)
{
	*p = (struct push){.options = options, .count = out->count};
	pthread_mutex_init(&p->lock, NULL);
	clock_cond_init(&p->stopping);
	p->pool = pool_new(options->jobs, POOL_FIRST_IN_FIRST_OUT, "push");
	p->item = xcalloc(p->count + 1, sizeof(*p->item));
	for (size_t i = 0; i < p->count; i++) {
		out->file[i].outcome = PUSHED_NOT_TRIED;
		parcel_init(&out->file[i].parcel, paths[i]);
		p->item[i] = (struct item){.push = p, .file = &out->file[i]};
	}
}

static void push_end(struct push *p)
{
	pool_free(p->pool);
	free_workers(p);
	for (size_t i = 0; i < p->project_count; i++)
		remote_page_free(p->project[i].page);
	free(p->project);
	free(p->item);
	pthread_cond_destroy(&p->stopping);
	pthread_mutex_destroy(&p->lock);
}

void push_run(const struct push_options *options, char **paths, size_t count, struct pushed *out)
{
	struct push p;
	int64_t begun = clock_ms();
	*out = (struct pushed){.file = xcalloc(count + 1, sizeof(*out->file)), .count = count};
	push_begin(&p, options, paths, out);
	examine_all(&p);
	ask_all(&p);
	send_all(&p);
	confirm_all(&p);
	out->stop = p.stop;
	push_end(&p);
	out->seconds = (double)(clock_ms() - begun) / 1000;
}

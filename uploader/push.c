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
	struct upload_client_answer answer; // to the question for the page
};

struct item {
	struct push *push;
	struct push_report_file *file;
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
	struct thread_pool *pool;
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
	struct push_report_file *f = item->file;
	if (dist_file_read(&f->parcel, &f->why) < 0)
		f->outcome = PUSH_REPORT_BAD;
}

// --- what is there ---

static void ask(void *job)
{
	struct project *project = job;
	struct push *p = project->push;
	struct worker *w = take_worker(p);
	upload_client_page_free(project->page);
	project->page = NULL;
	for (unsigned try = 0; !is_stopped(p); try++) {
		upload_client_ask(w->fetch, p->options->target, project->name, &project->page, &project->answer);
		if (project->answer.word != UPLOAD_CLIENT_AGAIN || !wait_for_next(p, try, project->answer.retry_after))
			break;
	}
	if (project->answer.word == UPLOAD_CLIENT_STOP)
		stop_all(p, &project->answer.why);
	give_worker(w);
}

static void settle(struct item *item, enum push_report_outcome outcome, const struct err *why)
{
	item->file->outcome = outcome;
	item->file->why = why ? *why : (struct err)ERR_INIT;
}

static void settle_conflict(struct item *item)
{
	struct err why = ERR_INIT;
	err_set(&why, ERR_CONFLICT, "other bytes are there under this name");
	settle(item, PUSH_REPORT_CONFLICT, &why);
}

// Whether the page has settled it.
static bool is_settled(struct item *item, const struct remote_page *page)
{
	switch (upload_client_state(page, &item->file->parcel)) {
	case UPLOAD_CLIENT_SAME:
		// What was sent and came to nothing here may have come to something there.
		settle(item, item->file->sent ? PUSH_REPORT_NEW : PUSH_REPORT_THERE, NULL);
		item->file->is_listed = true;
		return true;
	case UPLOAD_CLIENT_OTHER:
		settle_conflict(item);
		return true;
	case UPLOAD_CLIENT_ABSENT:
		break;
	}
	return false;
}

// --- sending ---

// False where it cannot be: it is not the file any more that was read.
static bool send_once(struct worker *w, struct item *item, struct upload_client_answer *answer)
{
	struct push_report_file *f = item->file;
	CLEANUP(mem_close) int fd = dist_file_open(&f->parcel, &f->why);
	if (fd < 0) {
		f->outcome = PUSH_REPORT_BAD;
		return false;
	}
	f->sent++;
	upload_client_send(w->fetch, item->push->options->target, &f->parcel, fd, answer);
	return true;
}

// After a mishap: nobody knows what became of it but the page. A page that cannot be had says
// nothing, and the next try goes on.
static bool is_there_by_now(struct worker *w, struct item *item)
{
	CLEANUP(upload_client_page_cleanup) struct remote_page *page = NULL;
	struct upload_client_answer answer;
	upload_client_ask(w->fetch, item->push->options->target, item->file->parcel.project, &page, &answer);
	return answer.word == UPLOAD_CLIENT_GOOD && is_settled(item, page);
}

static const enum push_report_outcome outcome_of[] = {
	[UPLOAD_CLIENT_GOOD] = PUSH_REPORT_NEW,
	[UPLOAD_CLIENT_KEPT] = PUSH_REPORT_KEPT,
	[UPLOAD_CLIENT_CONFLICT] = PUSH_REPORT_CONFLICT,
	[UPLOAD_CLIENT_REFUSED] = PUSH_REPORT_REFUSED,
	[UPLOAD_CLIENT_AGAIN] = PUSH_REPORT_FAILED,
	[UPLOAD_CLIENT_STOP] = PUSH_REPORT_NOT_TRIED,
};

static void try_to_send(struct worker *w, struct item *item)
{
	struct push *p = item->push;
	struct upload_client_answer answer;
	for (unsigned try = 0;; try++) {
		if (!send_once(w, item, &answer))
			return;
		if (answer.word != UPLOAD_CLIENT_AGAIN)
			break;
		bool goes_on = wait_for_next(p, try, answer.retry_after);
		if (is_stopped(p)) {
			settle(item, PUSH_REPORT_NOT_TRIED, NULL);
			return;
		}
		if (is_there_by_now(w, item))
			return;
		if (!goes_on)
			break;
	}
	settle(item, outcome_of[answer.word], answer.word == UPLOAD_CLIENT_GOOD ? NULL : &answer.why);
	if (answer.word == UPLOAD_CLIENT_STOP)
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
		if (p->item[i].file->outcome != PUSH_REPORT_BAD)
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
		thread_pool_submit(p->pool, examine, &p->item[i]);
	thread_pool_drain(p->pool);
	find_projects(p);
}

static void ask_all(struct push *p)
{
	for (size_t i = 0; i < p->project_count; i++)
		thread_pool_submit(p->pool, ask, &p->project[i]);
	thread_pool_drain(p->pool);
}

// Whether it is to be sent, now that the pages are known.
static bool is_wanted(struct item *item)
{
	if (!item->project || is_stopped(item->push))
		return false;
	if (item->project->answer.word == UPLOAD_CLIENT_AGAIN) {
		settle(item, PUSH_REPORT_FAILED, &item->project->answer.why);
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
			thread_pool_submit(p->pool, send_file, &p->item[i]);
	thread_pool_drain(p->pool);
}

// What was taken and is not on the page comes there later: a served replica follows its volume.
static void confirm(struct item *item)
{
	struct err why = ERR_INIT;
	struct upload_client_answer kept;
	const struct project *project = item->project;
	if (project->answer.word != UPLOAD_CLIENT_GOOD) {
		why = project->answer.why;
		err_prefix(&why, "it was taken, but the page does not say so: ");
		settle(item, PUSH_REPORT_FAILED, &why);
		return;
	}
	switch (upload_client_state(project->page, &item->file->parcel)) {
	case UPLOAD_CLIENT_SAME:
		item->file->is_listed = true;
		break;
	case UPLOAD_CLIENT_OTHER:
		upload_client_say_kept(&kept);
		settle(item, PUSH_REPORT_KEPT, &kept.why);
		break;
	case UPLOAD_CLIENT_ABSENT:
		break;
	}
}

static bool needs_confirmation(const struct item *item)
{
	return item->file->outcome == PUSH_REPORT_NEW && !item->file->is_listed;
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
			thread_pool_submit(p->pool, ask, last);
		}
	thread_pool_drain(p->pool);
	for (size_t i = 0; i < count && !is_stopped(p); i++)
		if (needs_confirmation(list[i]))
			confirm(list[i]);
}

static void push_begin(struct push *p, const struct push_options *options, char **paths, struct push_report *out)
{
	*p = (struct push){.options = options, .count = out->count};
	pthread_mutex_init(&p->lock, NULL);
	clock_cond_init(&p->stopping);
	p->pool = thread_pool_new(options->jobs, THREAD_POOL_FIRST_IN_FIRST_OUT, "push");
	p->item = xcalloc(p->count + 1, sizeof(*p->item));
	for (size_t i = 0; i < p->count; i++) {
		out->file[i].outcome = PUSH_REPORT_NOT_TRIED;
		dist_file_init(&out->file[i].parcel, paths[i]);
		p->item[i] = (struct item){.push = p, .file = &out->file[i]};
	}
}

static void push_end(struct push *p)
{
	thread_pool_free(p->pool);
	free_workers(p);
	for (size_t i = 0; i < p->project_count; i++)
		upload_client_page_free(p->project[i].page);
	free(p->project);
	free(p->item);
	pthread_cond_destroy(&p->stopping);
	pthread_mutex_destroy(&p->lock);
}

void push_run(const struct push_options *options, char **paths, size_t count, struct push_report *out)
{
	struct push p;
	int64_t begun = clock_ms();
	*out = (struct push_report){.file = xcalloc(count + 1, sizeof(*out->file)), .count = count};
	push_begin(&p, options, paths, out);
	examine_all(&p);
	ask_all(&p);
	send_all(&p);
	confirm_all(&p);
	out->stop = p.stop;
	push_end(&p);
	out->seconds = (double)(clock_ms() - begun) / 1000;
}

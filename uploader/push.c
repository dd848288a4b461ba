// SPDX-License-Identifier: Apache-2.0
#include "uploader/push.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/thread-pool.h"

enum { PROGRESS_MS = 100 };

struct push_project {
	struct push *push;
	const char *name; // of one of its files
	struct upload_client_page *page;
	struct upload_client_answer answer; // to the request for the page
};

struct push_item {
	struct push *push;
	struct push_report_file *file;
	struct push_project *project;
};

// A fetch, and its progress.
struct push_worker {
	struct push *push;
	struct push_worker *next; // the next idle one
	struct fetch *fetch;
	uint64_t sent; // bytes of the current file
};

struct push {
	const struct push_options *options;
	struct thread_pool *pool;
	struct push_item *item;
	size_t count;
	struct push_project *project; // by name, each once
	size_t project_count;

	pthread_mutex_t lock; // of all below
	pthread_cond_t stopping;
	struct push_worker *idle;
	struct err stop; // ERR_NONE: not stopped
	struct push_progress progress;
	uint64_t under_way; // bytes sent of files that are not done
	int64_t reported_ms;
};

// --- workers, progress, waiting ---

static bool is_push_stopped(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	bool stopped = p->stop.kind != ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return stopped;
}

// The first error is the one that is reported.
static void stop_all(struct push *p, const struct err *why)
{
	pthread_mutex_lock(&p->lock);
	if (p->stop.kind == ERR_NONE)
		p->stop = *why;
	pthread_cond_broadcast(&p->stopping);
	pthread_mutex_unlock(&p->lock);
}

// Under the lock.
static void report_progress(struct push *p, bool at_once)
{
	int64_t now = clock_ms();
	if (!p->options->progress || (!at_once && now - p->reported_ms < PROGRESS_MS))
		return;
	struct push_progress progress = p->progress;
	p->reported_ms = now;
	progress.bytes += p->under_way;
	p->options->progress(p->options->ctx, &progress);
}

static bool count_sent(void *ctx, uint64_t sent)
{
	struct push_worker *w = ctx;
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	p->under_way += sent - w->sent; // wraps where a new try starts at 0
	w->sent = sent;
	report_progress(p, false);
	bool is_running = p->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return is_running;
}

static struct push_worker *borrow_worker(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	struct push_worker *w = p->idle;
	if (w)
		p->idle = w->next;
	pthread_mutex_unlock(&p->lock);
	if (w)
		return w;
	w = xcalloc(1, sizeof(*w));
	w->push = p;
	struct fetch_options options = p->options->fetch;
	options.progress = count_sent;
	options.ctx = w;
	w->fetch = fetch_new(&options);
	return w;
}

static void return_worker(struct push_worker *w)
{
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	w->next = p->idle;
	p->idle = w;
	pthread_mutex_unlock(&p->lock);
}

// Waits before the next try. False where there is none: no tries are left, the push was stopped, or the server asks for
// too long a pause.
static bool wait_before_retry(struct push *p, unsigned try, uint64_t retry_after)
{
	int64_t pause = retry_pause(try, retry_after);
	if (try >= p->options->retries || pause < 0)
		return false;
	int64_t end = clock_ms() + pause;
	pthread_mutex_lock(&p->lock);
	while (p->stop.kind == ERR_NONE && clock_wait(&p->stopping, &p->lock, end))
		;
	bool is_running = p->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&p->lock);
	return is_running;
}

// --- reading the files ---

static void read_item(void *job)
{
	struct push_item *item = job;
	struct push_report_file *f = item->file;
	if (dist_file_read(&f->dist, &f->why) < 0)
		f->outcome = PUSH_REPORT_BAD;
}

// --- the pages of the server ---

static void get_project_page(void *job)
{
	struct push_project *project = job;
	struct push *p = project->push;
	struct push_worker *w = borrow_worker(p);
	upload_client_page_free(project->page);
	project->page = NULL;
	for (unsigned try = 0; !is_push_stopped(p); try++) {
		upload_client_get_page(w->fetch, p->options->target, project->name, &project->page, &project->answer);
		if (project->answer.result != UPLOAD_CLIENT_RETRY ||
			!wait_before_retry(p, try, project->answer.retry_after))
			break;
	}
	if (project->answer.result == UPLOAD_CLIENT_STOP)
		stop_all(p, &project->answer.why);
	return_worker(w);
}

static void set_outcome(struct push_item *item, enum push_report_outcome outcome, const struct err *why)
{
	item->file->outcome = outcome;
	item->file->why = why ? *why : (struct err)ERR_INIT;
}

// Whether the page decides the file's outcome, so that it need not be sent.
static bool is_decided_by_page(struct push_item *item, const struct upload_client_page *page)
{
	bool was_listed = item->file->is_listed;
	switch (upload_client_find(page, &item->file->dist)) {
	case UPLOAD_CLIENT_SAME:
		// An upload that failed here may have succeeded on the server.
		set_outcome(item, item->file->sent ? PUSH_REPORT_NEW : PUSH_REPORT_THERE, NULL);
		item->file->is_listed = true;
		// A file that was there before is sent for its statement.
		return !item->push->options->sends_again || (item->file->sent && !was_listed);
	case UPLOAD_CLIENT_OTHER:
		// Only the server can tell whether a wheel with other bytes has other contents.
		if (dist_file_is_wheel(&item->file->dist))
			break;
		struct err why = ERR_INIT;
		err_set(&why, ERR_CONFLICT, "the server has other bytes under this name");
		set_outcome(item, PUSH_REPORT_CONFLICT, &why);
		return true;
	case UPLOAD_CLIENT_ABSENT:
		break;
	}
	return false;
}

// --- sending ---

// False where the file cannot be opened or has changed since it was read.
static bool send_item_once(struct push_worker *w, struct push_item *item, struct upload_client_answer *answer)
{
	struct push_report_file *f = item->file;
	CLEANUP(mem_close) int fd = dist_file_open(&f->dist, &f->why);
	if (fd < 0) {
		f->outcome = PUSH_REPORT_BAD;
		return false;
	}
	f->sent++;
	upload_client_send(w->fetch, item->push->options->target, &f->dist, fd, answer);
	return true;
}

// After an error only the page shows whether the upload succeeded. Without a page, false: the file is sent again.
static bool is_published_meanwhile(struct push_worker *w, struct push_item *item)
{
	CLEANUP(upload_client_page_cleanup) struct upload_client_page *page = NULL;
	struct upload_client_answer answer;
	upload_client_get_page(w->fetch, item->push->options->target, item->file->dist.project, &page, &answer);
	return answer.result == UPLOAD_CLIENT_OK && is_decided_by_page(item, page);
}

static const enum push_report_outcome outcome_of[] = {
	[UPLOAD_CLIENT_OK] = PUSH_REPORT_NEW,
	[UPLOAD_CLIENT_KEPT] = PUSH_REPORT_KEPT,
	[UPLOAD_CLIENT_CONFLICT] = PUSH_REPORT_CONFLICT,
	[UPLOAD_CLIENT_REFUSED] = PUSH_REPORT_REFUSED,
	[UPLOAD_CLIENT_RETRY] = PUSH_REPORT_FAILED,
	[UPLOAD_CLIENT_STOP] = PUSH_REPORT_NOT_TRIED,
};

static void send_item(struct push_worker *w, struct push_item *item)
{
	struct push *p = item->push;
	struct upload_client_answer answer;
	for (unsigned try = 0;; try++) {
		if (!send_item_once(w, item, &answer))
			return;
		if (answer.result != UPLOAD_CLIENT_RETRY)
			break;
		bool has_next = wait_before_retry(p, try, answer.retry_after);
		if (is_push_stopped(p)) {
			set_outcome(item, PUSH_REPORT_NOT_TRIED, NULL);
			return;
		}
		if (is_published_meanwhile(w, item))
			return;
		if (!has_next)
			break;
	}
	bool was_there = item->file->is_listed && answer.result == UPLOAD_CLIENT_OK;
	set_outcome(item, was_there ? PUSH_REPORT_THERE : outcome_of[answer.result],
		answer.result == UPLOAD_CLIENT_OK ? NULL : &answer.why);
	if (answer.result == UPLOAD_CLIENT_STOP)
		stop_all(p, &answer.why);
}

static void run_send_item(void *job)
{
	struct push_item *item = job;
	struct push_worker *w = borrow_worker(item->push);
	if (!is_push_stopped(item->push))
		send_item(w, item);
	struct push *p = w->push;
	pthread_mutex_lock(&p->lock);
	p->under_way -= w->sent;
	w->sent = 0;
	p->progress.files++;
	p->progress.bytes += item->file->dist.read.size;
	report_progress(p, true);
	pthread_mutex_unlock(&p->lock);
	return_worker(w);
}

// --- the four phases ---

// No job runs between two phases, so a phase may read what the previous one wrote.

static int compare_items_by_project(const void *a, const void *b)
{
	const struct push_item *x = *(struct push_item *const *)a, *y = *(struct push_item *const *)b;
	return strcmp(x->file->dist.project, y->file->dist.project);
}

static struct push_item **valid_items(struct push *p, size_t *count)
{
	struct push_item **list = xcalloc(p->count + 1, sizeof(*list));
	*count = 0;
	for (size_t i = 0; i < p->count; i++)
		if (p->item[i].file->outcome != PUSH_REPORT_BAD)
			list[(*count)++] = &p->item[i];
	return list;
}

static void read_all_items(struct push *p)
{
	for (size_t i = 0; i < p->count; i++)
		thread_pool_submit(p->pool, read_item, &p->item[i]);
	thread_pool_drain(p->pool);
	size_t count;
	CLEANUP(mem_free) struct push_item **list = valid_items(p, &count);
	qsort(list, count, sizeof(*list), compare_items_by_project);
	p->project = xcalloc(count + 1, sizeof(*p->project));
	for (size_t i = 0; i < count; i++) {
		const char *name = list[i]->file->dist.project;
		if (!i || strcmp(name, p->project[p->project_count - 1].name) != 0)
			p->project[p->project_count++] = (struct push_project){p, name, NULL, {0}};
		list[i]->project = &p->project[p->project_count - 1];
	}
}

// Whether the file must be sent, by the page of its project.
static bool must_be_sent(struct push_item *item)
{
	if (!item->project || is_push_stopped(item->push))
		return false;
	if (item->project->answer.result == UPLOAD_CLIENT_RETRY) {
		set_outcome(item, PUSH_REPORT_FAILED, &item->project->answer.why);
		return false;
	}
	return !is_decided_by_page(item, item->project->page);
}

static void send_all(struct push *p)
{
	CLEANUP(mem_free) bool *wanted = xcalloc(p->count + 1, sizeof(*wanted));
	for (size_t i = 0; i < p->count; i++) {
		wanted[i] = must_be_sent(&p->item[i]);
		p->progress.all_files += wanted[i];
		if (wanted[i])
			p->progress.all_bytes += p->item[i].file->dist.read.size;
	}
	for (size_t i = 0; i < p->count; i++)
		if (wanted[i])
			thread_pool_submit(p->pool, run_send_item, &p->item[i]);
	thread_pool_drain(p->pool);
}

// A published file may be missing on the page: a replica that is served follows its volume later. That is no error.
static void confirm_item(struct push_item *item)
{
	struct err why = ERR_INIT;
	struct upload_client_answer kept;
	const struct push_project *project = item->project;
	if (project->answer.result != UPLOAD_CLIENT_OK) {
		why = project->answer.why;
		err_prefix(&why, "it was uploaded, but the page could not be checked: ");
		set_outcome(item, PUSH_REPORT_FAILED, &why);
		return;
	}
	switch (upload_client_find(project->page, &item->file->dist)) {
	case UPLOAD_CLIENT_SAME:
		item->file->is_listed = true;
		break;
	case UPLOAD_CLIENT_OTHER:
		upload_client_set_kept(&kept);
		set_outcome(item, PUSH_REPORT_KEPT, &kept.why);
		break;
	case UPLOAD_CLIENT_ABSENT:
		break;
	}
}

static bool needs_confirmation(const struct push_item *item)
{
	return item->file->outcome == PUSH_REPORT_NEW && !item->file->is_listed;
}

static void confirm_all(struct push *p)
{
	struct push_project *last = NULL;
	size_t count;
	CLEANUP(mem_free) struct push_item **list = valid_items(p, &count);
	qsort(list, count, sizeof(*list), compare_items_by_project);
	for (size_t i = 0; i < count; i++)
		if (needs_confirmation(list[i]) && list[i]->project != last) {
			last = list[i]->project;
			thread_pool_submit(p->pool, get_project_page, last);
		}
	thread_pool_drain(p->pool);
	for (size_t i = 0; i < count && !is_push_stopped(p); i++)
		if (needs_confirmation(list[i]))
			confirm_item(list[i]);
}

static void start_push(struct push *p, const struct push_options *options, char **paths, struct push_report *out)
{
	*p = (struct push){.options = options, .count = out->count};
	pthread_mutex_init(&p->lock, NULL);
	clock_cond_init(&p->stopping);
	p->pool = thread_pool_new(options->jobs, THREAD_POOL_FIRST_IN_FIRST_OUT, "push");
	p->item = xcalloc(p->count + 1, sizeof(*p->item));
	for (size_t i = 0; i < p->count; i++) {
		out->file[i].outcome = PUSH_REPORT_NOT_TRIED;
		dist_file_init(&out->file[i].dist, paths[i]);
		out->file[i].dist.statement = options->statement;
		p->item[i] = (struct push_item){.push = p, .file = &out->file[i]};
	}
}

void push_run(const struct push_options *options, char **paths, size_t count, struct push_report *out)
{
	struct push p;
	int64_t begun = clock_ms();
	*out = (struct push_report){.file = xcalloc(count + 1, sizeof(*out->file)), .count = count};
	start_push(&p, options, paths, out);
	read_all_items(&p);
	for (size_t i = 0; i < p.project_count; i++)
		thread_pool_submit(p.pool, get_project_page, &p.project[i]);
	thread_pool_drain(p.pool);
	send_all(&p);
	confirm_all(&p);
	out->stop = p.stop;
	thread_pool_free(p.pool);
	while (p.idle) {
		struct push_worker *w = p.idle;
		p.idle = w->next;
		fetch_free(w->fetch);
		free(w);
	}
	for (size_t i = 0; i < p.project_count; i++)
		upload_client_page_free(p.project[i].page);
	free(p.project);
	free(p.item);
	pthread_cond_destroy(&p.stopping);
	pthread_mutex_destroy(&p.lock);
	out->seconds = (double)(clock_ms() - begun) / 1000;
}

// --- the report ---

// In the order of the enum.
static const struct outcome_row {
	const char *key, *text;
	bool is_good;
} outcomes[PUSH_REPORT_COUNT] = {
	[PUSH_REPORT_NEW] = {"published", "published", true},
	[PUSH_REPORT_THERE] = {"already-there", "already there", true},
	[PUSH_REPORT_KEPT] = {"kept-earlier", "kept as an earlier build", true},
	[PUSH_REPORT_CONFLICT] = {"conflict", "conflict", false},
	[PUSH_REPORT_REFUSED] = {"refused", "refused", false},
	[PUSH_REPORT_BAD] = {"bad", "not sent", false},
	[PUSH_REPORT_FAILED] = {"failed", "failed", false},
	[PUSH_REPORT_NOT_TRIED] = {"not-tried", "not tried", false},
};

void push_report_release(struct push_report *p)
{
	for (size_t i = 0; i < p->count; i++)
		dist_file_release(&p->file[i].dist);
	free(p->file);
	*p = (struct push_report){0};
}

static size_t count_outcome(const struct push_report *p, enum push_report_outcome outcome)
{
	size_t total = 0;
	for (size_t i = 0; i < p->count; i++)
		total += p->file[i].outcome == outcome;
	return total;
}

static size_t count_good(const struct push_report *p)
{
	size_t total = 0;
	for (size_t i = 0; i < p->count; i++)
		total += outcomes[p->file[i].outcome].is_good;
	return total;
}

void push_report_problems(const struct push_report *p, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct push_report_file *f = &p->file[i];
		if (!outcomes[f->outcome].is_good && f->outcome != PUSH_REPORT_NOT_TRIED)
			escape_terminal_line(out, "%s: %s: %s", f->dist.path, outcomes[f->outcome].text, f->why.msg);
	}
}

void push_report_text(const struct push_report *p, struct buf *out)
{
	bool is_first = true;
	push_report_problems(p, out);
	for (int k = 0; k < PUSH_REPORT_COUNT; k++) {
		size_t total = count_outcome(p, (enum push_report_outcome)k);
		if (total)
			buf_printf(out, "%s%zu %s", is_first ? "" : ", ", total, outcomes[k].text);
		is_first = is_first && !total;
	}
	buf_printf(out, " in %.1f s\n", p->seconds);
}

static struct jsondoc *file_json(const struct push_report_file *f)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "path", f->dist.path);
	jsondoc_put_str(doc, "filename", f->dist.filename);
	jsondoc_put_str(doc, "result", outcomes[f->outcome].key);
	if (f->why.kind != ERR_NONE)
		jsondoc_put_str(doc, "reason", f->why.msg);
	jsondoc_put_int(doc, "sent", f->sent);
	jsondoc_put_bool(doc, "listed", f->is_listed);
	if (f->dist.project) {
		jsondoc_put_str(doc, "project", f->dist.project);
		jsondoc_put_str(doc, "version", f->dist.version);
		jsondoc_put_str(doc, "sha256", f->dist.sha256);
		jsondoc_put_int(doc, "size", (int64_t)f->dist.read.size);
	}
	return doc;
}

void push_report_json(const struct push_report *p, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *files = jsondoc_array();
	jsondoc_put_bool(doc, "ok", count_good(p) == p->count);
	if (p->stop.kind != ERR_NONE)
		jsondoc_put_str(doc, "reason", p->stop.msg);
	jsondoc_put_real(doc, "seconds", p->seconds);
	for (int k = 0; k < PUSH_REPORT_COUNT; k++)
		jsondoc_put_int(doc, outcomes[k].key, (int64_t)count_outcome(p, (enum push_report_outcome)k));
	for (size_t i = 0; i < p->count; i++)
		jsondoc_add(files, file_json(&p->file[i]));
	jsondoc_put(doc, "files", files);
	jsondoc_write(doc, 2, out);
}

int push_report_verdict(const struct push_report *p, struct err *e)
{
	if (p->stop.kind != ERR_NONE) {
		*e = p->stop;
		return -1;
	}
	size_t bad = p->count - count_good(p);
	return bad ? err_set(e, ERR_CONFLICT, "%zu of %s not on the server", bad,
			     COUNTED(p->count, "file is|files are"))
		   : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/project-list.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/index/project-names.h"
#include "lib/domain/index/simplepage.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/os/thread-pool.h"

enum {
	RETRY_SECONDS = 30, // after a failure the list is not fetched for so long
};

static const char file_name[] = ".projects";

struct project_list {
	struct project_list_options options;
	char *folder, *url; // of the options
	struct thread_pool *workers;
	pthread_mutex_t lock;
	struct blob *names; // NULL: none yet
	struct continuation *waiters;
	int64_t fetched; // seconds since 1970, of names
	long retry_at;   // seconds of the monotonic clock; after a failure
	bool is_fetching, is_cancelled;
	// Used during a fetch only: by the fetch pool's thread, then by the worker.
	struct buf body; // of the response
	char *type;      // its Content-Type
};

// --- the list ---

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Reads the file into memory. It is not mapped, because another process may truncate it.
static struct blob *open_list(const struct project_list *r, int64_t *fetched)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(mem_close) int dir = safefile_folder(r->options.folder, false, &e);
	CLEANUP(mem_close) int fd = dir < 0 ? -1 : safefile_open_at(dir, file_name, O_RDONLY, 0, NULL, &e);
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	CLEANUP(buf_release) struct buf names = buf_up_to(LIMIT_PROJECT_LIST);
	if (fs_read_fd(fd, file_name, &names, &e) < 0)
		return NULL;
	*fetched = st.st_mtime;
	return blob_from_buf(&names);
}

static int write_list(const struct project_list *r, struct str names, struct err *e)
{
	CLEANUP(fs_tmp_release) struct fs_tmp tmp = {.fd = -1};
	CLEANUP(mem_close) int dir = safefile_folder(r->options.folder, false, e);
	if (dir < 0 || fs_tmp_open_mode(&tmp, dir, ".projects.new", file_name, SAFEFILE_MODE, e) < 0 ||
		fs_tmp_write(&tmp, names, e) < 0)
		return -1;
	return fs_tmp_publish(&tmp, e);
}

// Resumes the waiting requests, which call project_list_get() again.
static void end_fetch(struct project_list *r, struct blob *names, int64_t fetched)
{
	pthread_mutex_lock(&r->lock);
	struct blob *before = NULL;
	if (names) {
		before = r->names;
		r->names = names;
		r->fetched = fetched;
	} else {
		r->retry_at = clock_seconds() + RETRY_SECONDS;
	}
	r->is_fetching = false;
	struct continuation *waiters = STEAL_PTR(r->waiters);
	pthread_mutex_unlock(&r->lock);
	blob_unref(before);
	if (names)
		r->options.changed(r->options.ctx);
	continuation_resume_all(waiters);
}

static int parse_list(struct project_list *r, struct buf *sorted, struct err *e)
{
	CLEANUP(buf_release) struct buf names = buf_up_to(LIMIT_PROJECT_LIST);
	if (project_names_read(buf_view(&r->body), str_from(r->type), &names, e) < 0)
		return -1;
	buf_release(&r->body);
	if (!names.failed) {
		// Sorts the lines of the text, each once.
		size_t count = 0, room = 0;
		char **line = NULL;
		for (char *at = names.data, *end; at < names.data + names.len; at = end + 1) {
			end = memchr(at, '\n', (size_t)(names.data + names.len - at));
			*end = '\0';
			GROW(line, count, room);
			line[count++] = at;
		}
		if (count)
			qsort(line, count, sizeof(*line), compare_lines);
		for (size_t i = 0; i < count; i++)
			if (i == 0 || strcmp(line[i - 1], line[i]) != 0) {
				buf_puts(sorted, line[i]);
				buf_putc(sorted, '\n');
			}
		free(line);
	}
	if (!sorted->len || sorted->failed)
		return err_set(e, ERR_INVALID, "it has no names, or too many");
	return 0;
}

// On a worker thread.
static void save_list(void *job)
{
	struct project_list *r = job;
	struct err e = ERR_INIT;
	int64_t fetched = 0;
	struct blob *names = NULL;
	CLEANUP(buf_release) struct buf sorted = buf_up_to(LIMIT_PROJECT_LIST);
	if (parse_list(r, &sorted, &e) < 0)
		log_error("upstream's list of projects is not usable: %s", e.msg);
	else if (write_list(r, buf_view(&sorted), &e) < 0)
		log_error("upstream's list of projects is not saved: %s", e.msg);
	else
		names = open_list(r, &fetched);
	buf_release(&r->body);
	end_fetch(r, names, fetched);
}

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct project_list *r = ctx;
	struct str type = fetch_header(answer, "Content-Type");
	free(r->type);
	r->type = xstrndup(type.len ? type.ptr : "", type.len);
	buf_clear(&r->body);
	return answer->status == 200 ? FETCH_GO_ON : FETCH_STOP;
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct project_list *r = ctx;
	buf_str(&r->body, piece);
	return r->body.failed ? FETCH_STOP : FETCH_GO_ON;
}

static void on_done(void *ctx, const struct fetch_result *result)
{
	struct project_list *r = ctx;
	if (result->failure == FETCH_WHOLE && result->answer->status == 200) {
		thread_pool_submit(r->workers, save_list, r);
		return;
	}
	log_warn("upstream's list of projects cannot be fetched: %s",
		*result->why ? result->why : "the status is not 200");
	buf_release(&r->body);
	end_fetch(r, NULL, 0);
}

// With the lock held.
static bool list_is_fresh(const struct project_list *r)
{
	int64_t age = clock_wall_seconds() - r->fetched;
	return r->options.is_offline || (r->names && age >= 0 && age < (int64_t)r->options.max_age);
}

void project_list_configure(struct project_list *r, unsigned max_age, bool is_offline)
{
	pthread_mutex_lock(&r->lock);
	r->options.max_age = max_age;
	r->options.is_offline = is_offline;
	pthread_mutex_unlock(&r->lock);
}

bool project_list_is_fresh(struct project_list *r)
{
	pthread_mutex_lock(&r->lock);
	bool fresh = list_is_fresh(r) || r->is_fetching || r->retry_at > clock_seconds();
	pthread_mutex_unlock(&r->lock);
	return fresh;
}

bool project_list_get(struct project_list *r, struct continuation *continuation, struct blob **names)
{
	pthread_mutex_lock(&r->lock);
	bool may_fetch = !r->options.is_offline && !r->is_cancelled && r->retry_at <= clock_seconds();
	bool starts = may_fetch && !r->is_fetching && !list_is_fresh(r);
	bool waits = !r->names && (starts || r->is_fetching) && !r->is_cancelled;
	*names = r->names ? blob_ref(r->names) : NULL;
	r->is_fetching |= starts;
	if (waits) {
		continuation->next = r->waiters;
		r->waiters = continuation;
	}
	pthread_mutex_unlock(&r->lock);
	if (starts) {
		static const char *const headers[] = {simplepage_accept, NULL};
		const struct fetch_request request = {
			.url = r->options.url,
			.headers = headers,
			.limit = LIMIT_PROJECT_LIST,
			.on_head = on_head,
			.on_body = on_body,
			.on_done = on_done,
			.ctx = r,
		};
		buf_init(&r->body, LIMIT_PROJECT_LIST);
		fetch_pool_get(r->options.pool, &request);
	}
	return !waits;
}

// --- start and stop ---

struct project_list *project_list_new(const struct project_list_options *options)
{
	struct project_list *r = xcalloc(1, sizeof(*r));
	r->options = *options;
	r->options.folder = r->folder = xstrdup(options->folder);
	r->options.url = r->url = xstrdup(options->url);
	pthread_mutex_init(&r->lock, NULL);
	r->workers = thread_pool_new(1, THREAD_POOL_FIRST_IN_FIRST_OUT, "project list");
	r->names = open_list(r, &r->fetched);
	return r;
}

void project_list_cancel(struct project_list *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->is_cancelled = true;
	struct continuation *waiters = STEAL_PTR(r->waiters);
	pthread_mutex_unlock(&r->lock);
	continuation_resume_all(waiters);
}

void project_list_free(struct project_list *r)
{
	if (!r)
		return;
	thread_pool_free(r->workers);
	blob_unref(r->names);
	pthread_mutex_destroy(&r->lock);
	free(r->folder);
	free(r->url);
	free(r->type);
	free(r);
}

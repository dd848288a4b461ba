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
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/os/thread-pool.h"

enum {
	REST_SECONDS = 30, // so long a failure is remembered
	CARRY = 64 << 10,  // what may lie between two names
};

static const char file_name[] = ".projects";

struct project_list {
	struct project_list_options options;
	char *folder, *url; // of the options
	struct thread_pool *workers;
	pthread_mutex_t lock;
	struct blob *names; // NULL: none yet
	struct continuation *waiters;
	int64_t fetched;  // seconds since 1970, of names
	long rests_until; // of the monotonic clock: after a failure
	bool is_asking, has_given_up;
	// While it is asked: the pool's thread alone, and then a worker.
	struct buf text;  // names as they came, each with a line end
	struct buf carry; // bytes in which the next name may begin
	bool is_html;
};

// --- reading a list as it comes ---

static void take_name(struct project_list *r, struct str name)
{
	if (!name_is_valid(name) || name.len > LIMIT_FILE_NAME)
		return;
	name_normalize(name, &r->text);
	buf_putc(&r->text, '\n');
}

// Takes the first name out of the text: 1, and what is behind it; 0: there is none, or not all of it.
static int next_in_json(struct str *text, struct str *name)
{
	const char *key = memmem(text->ptr, text->len, "\"name\"", 6);
	if (!key)
		return 0;
	struct str rest = str_slice(*text, (size_t)(key - text->ptr) + 6, text->len);
	size_t i = 0;
	while (i < rest.len && strchr(" \t\r\n:", rest.ptr[i]))
		i++;
	if (i == rest.len)
		return 0;
	struct str value = str_slice(rest, i + (rest.ptr[i] == '"'), rest.len);
	long end = str_find(value, '"');
	if (end < 0)
		return 0;
	*name = str_slice(value, 0, (size_t)end);
	*text = str_slice(value, (size_t)end + 1, value.len);
	return 1;
}

static int next_in_html(struct str *text, struct str *name)
{
	const char *end = memmem(text->ptr, text->len, "</a>", 4);
	if (!end)
		return 0;
	struct str link = str_slice(*text, 0, (size_t)(end - text->ptr));
	long begin = str_rfind(link, '>');
	*name = str_trim(str_slice(link, (size_t)(begin + 1), link.len));
	*text = str_slice(*text, link.len + 4, text->len);
	return 1;
}

static void read_names(struct project_list *r)
{
	struct str text = buf_view(&r->carry), name;
	while ((r->is_html ? next_in_html : next_in_json)(&text, &name))
		take_name(r, name);
	size_t used = r->carry.len - text.len;
	memmove(r->carry.data, r->carry.data + used, text.len);
	r->carry.len = text.len;
}

// --- the list ---

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// Sorts the lines of the text, each once.
static void sort_names(struct buf *text, struct buf *out)
{
	size_t count = 0, room = 0;
	char **line = NULL;
	for (char *at = text->data, *end; at < text->data + text->len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text->data + text->len - at));
		*end = '\0';
		GROW(line, count, room);
		line[count++] = at;
	}
	if (count)
		qsort(line, count, sizeof(*line), by_name);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(line[i - 1], line[i]) != 0) {
			buf_puts(out, line[i]);
			buf_putc(out, '\n');
		}
	free(line);
}

// Into memory, and not mapped: pages are made of it, and others may cut the file short.
static struct blob *open_list(const struct project_list *r, int64_t *fetched)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(mem_close) int dir = safefile_folder(r->options.folder, false, &e);
	CLEANUP(mem_close) int fd = dir < 0 ? -1 : safefile_open_at(dir, file_name, O_RDONLY, 0, NULL, &e);
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, LIMIT_PROJECT_LIST);
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

// Who waits looks again.
static void end_asking(struct project_list *r, struct blob *names, int64_t fetched)
{
	pthread_mutex_lock(&r->lock);
	struct blob *before = NULL;
	if (names) {
		before = r->names;
		r->names = names;
		r->fetched = fetched;
	} else {
		r->rests_until = clock_seconds() + REST_SECONDS;
	}
	r->is_asking = false;
	struct continuation *waiters = STEAL_PTR(r->waiters);
	pthread_mutex_unlock(&r->lock);
	blob_unref(before);
	if (names)
		r->options.changed(r->options.ctx);
	continuation_resume_all(waiters);
}

// A worker's.
static void keep(void *job)
{
	struct project_list *r = job;
	struct err e = ERR_INIT;
	int64_t fetched = 0;
	struct blob *names = NULL;
	CLEANUP(buf_release) struct buf sorted;
	buf_init(&sorted, LIMIT_PROJECT_LIST);
	sort_names(&r->text, &sorted);
	buf_release(&r->text);
	if (!sorted.len || sorted.failed)
		log_error("upstream's list of projects has no names, or too many");
	else if (write_list(r, buf_view(&sorted), &e) < 0)
		log_error("upstream's list of projects is not kept: %s", e.msg);
	else
		names = open_list(r, &fetched);
	end_asking(r, names, fetched);
}

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct project_list *r = ctx;
	r->is_html = !str_starts(fetch_header(answer, "Content-Type"), STR("application/vnd.pypi.simple.v1+json"));
	return answer->status == 200 ? FETCH_GO_ON : FETCH_STOP;
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct project_list *r = ctx;
	buf_str(&r->carry, piece);
	if (r->carry.failed)
		return FETCH_STOP;
	read_names(r);
	if (r->carry.len > CARRY) { // no name begins there
		memmove(r->carry.data, r->carry.data + r->carry.len - CARRY, CARRY);
		r->carry.len = CARRY;
	}
	return r->text.failed ? FETCH_STOP : FETCH_GO_ON;
}

static void on_done(void *ctx, const struct fetch_result *result)
{
	struct project_list *r = ctx;
	buf_release(&r->carry);
	if (result->failure == FETCH_WHOLE && result->answer->status == 200) {
		thread_pool_submit(r->workers, keep, r);
		return;
	}
	log_warn("upstream's list of projects did not come: %s",
		*result->why ? result->why : "it is not answered with 200");
	buf_release(&r->text);
	end_asking(r, NULL, 0);
}

static void ask(struct project_list *r)
{
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
	buf_init(&r->text, LIMIT_PROJECT_LIST);
	buf_init(&r->carry, LIMIT_PROJECT_LIST);
	fetch_pool_get(r->options.pool, &request);
}

// Under the lock.
static bool is_fresh(const struct project_list *r)
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
	bool fresh = is_fresh(r) || r->is_asking || r->rests_until > clock_seconds();
	pthread_mutex_unlock(&r->lock);
	return fresh;
}

bool project_list_get(struct project_list *r, struct continuation *continuation, struct blob **names)
{
	pthread_mutex_lock(&r->lock);
	bool may_ask = !r->options.is_offline && !r->has_given_up && r->rests_until <= clock_seconds();
	bool asks = may_ask && !r->is_asking && !is_fresh(r);
	bool waits = !r->names && (asks || r->is_asking) && !r->has_given_up;
	*names = r->names ? blob_ref(r->names) : NULL;
	r->is_asking |= asks;
	if (waits) {
		continuation->next = r->waiters;
		r->waiters = continuation;
	}
	pthread_mutex_unlock(&r->lock);
	if (asks)
		ask(r);
	return !waits;
}

// --- beginning, end ---

struct project_list *project_list_new(const struct project_list_options *options)
{
	struct project_list *r = xcalloc(1, sizeof(*r));
	r->options = *options;
	r->options.folder = r->folder = xstrdup(options->folder);
	r->options.url = r->url = xstrdup(options->url);
	pthread_mutex_init(&r->lock, NULL);
	r->workers = thread_pool_new(1, THREAD_POOL_FIRST_IN_FIRST_OUT, "roster");
	r->names = open_list(r, &r->fetched);
	return r;
}

void project_list_cancel(struct project_list *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->has_given_up = true;
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
	free(r);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch-pool.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/net/url.h"
#include "lib/os/clock.h"

enum { WAIT_MS = 60 * 1000 }; // longest wait in one poll

struct task {
	struct task *next;
	struct fetch_pool *pool;
	uint64_t id;
	struct fetch_request request; // its url and configured_url are NULL: the parsed ones follow
	struct fetch_url configured, url;
	const char **headers;
	struct arena text; // of these
	int64_t start_ms;  // starts at this clock_ms() or later
	int64_t end_ms;    // 0: no limit
	uint64_t received; // bytes of the body
	unsigned redirects;
	bool has_password; // configured has that of the pool's file
	bool has_begun, has_head, is_stopped, is_too_large;
	struct transfer *transfer; // NULL: the task is queued
	struct fetch_answer answer;
	struct err why;
};

// First in, first out.
struct task_queue {
	struct task *first, **end;
};

// What another thread asks the pool's thread to do.
struct pool_call {
	struct pool_call *next;
	void (*run)(struct fetch_pool *p, const struct pool_call *call);
	uint64_t id;           // of the request to cancel
	void (*fn)(void *ctx); // the function to call
	void *ctx;
};

struct fetch_pool {
	struct fetch_options options;
	const char *allow_hosts, *password_file;
	struct arena text; // of the options
	bool allow_private;
	unsigned concurrency, active;
	struct transfer_set *set;
	struct task_queue queued, running; // only for the thread that runs the pool
	char *password_error;              // that was told last; the same

	pthread_mutex_t lock; // protects what follows
	struct task_queue inbox;
	struct pool_call *calls, **calls_end;
	uint64_t last_id;
	bool is_ending;
	bool has_thread;
	pthread_t thread;
};

static void queue_init(struct task_queue *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void queue_add(struct task_queue *q, struct task *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
}

static void queue_remove(struct task_queue *q, struct task *t)
{
	struct task **at = &q->first;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (q->end == &t->next)
		q->end = at;
}

static void queue_append(struct task_queue *q, struct task_queue *other)
{
	if (!other->first)
		return;
	*q->end = other->first;
	q->end = other->end;
	queue_init(other);
}

// id 0: the first task.
static struct task *queue_find(const struct task_queue *q, uint64_t id)
{
	struct task *t = q->first;
	while (t && id && t->id != id)
		t = t->next;
	return t;
}

struct fetch_pool *fetch_pool_new(const struct fetch_pool_options *options)
{
	struct fetch_pool *p = xcalloc(1, sizeof(*p));
	p->options = options->fetch;
	p->options.ca_file = arena_strdup(&p->text, options->fetch.ca_file);
	p->options.netrc = arena_strdup(&p->text, options->fetch.netrc);
	p->allow_hosts = arena_strdup(&p->text, options->allow_hosts);
	p->password_file = arena_strdup(&p->text, options->password_file);
	p->allow_private = options->allow_private;
	p->concurrency = options->concurrency;
	p->set = transfer_set_new(options->concurrency);
	queue_init(&p->queued);
	queue_init(&p->running);
	queue_init(&p->inbox);
	p->calls_end = &p->calls;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void copy_headers(struct task *t, const char *const *headers)
{
	size_t count = 0;
	while (headers && headers[count])
		count++;
	t->headers = ARENA_NEW(&t->text, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		t->headers[i] = arena_strdup(&t->text, headers[i]);
}

uint64_t fetch_pool_get(struct fetch_pool *p, const struct fetch_request *request)
{
	struct task *t = xcalloc(1, sizeof(*t));
	t->pool = p;
	t->request = *request;
	copy_headers(t, request->headers);
	t->start_ms = clock_ms() + (int64_t)request->delay_ms;
	// Parses both URLs. If one is malformed, url stays empty, and on_done reports it later.
	if (fetch_url_parse(request->url, &t->url, &t->why) >= 0) {
		if (fetch_url_parse(request->configured_url ? request->configured_url : request->url, &t->configured,
			    &t->why) < 0)
			fetch_url_release(&t->url);
	}
	t->request.url = t->request.configured_url = NULL;
	size_t limit = request->limit < SIZE_MAX / 2 ? (size_t)request->limit : SIZE_MAX / 2;
	fetch_answer_init(&t->answer, limit);
	pthread_mutex_lock(&p->lock);
	uint64_t id = t->id = ++p->last_id;
	queue_add(&p->inbox, t);
	pthread_mutex_unlock(&p->lock);
	transfer_set_wake(p->set);
	return id;
}

// Calls on_done and frees the task, which is in no queue any more.
static void finish_task(struct task *t, enum fetch_failure failure, const char *why)
{
	const char *url = t->url.text ? t->url.text : "";
	CLEANUP(mem_free)
	char *message = failure == FETCH_WHOLE ? xstrdup("") : xasprintf("%s%s%s", url, *url ? ": " : "", why);
	const struct fetch_result result = {failure, message, url, &t->answer};
	transfer_end(t->transfer);
	t->request.on_done(t->request.ctx, &result);
	arena_release(&t->text);
	fetch_url_release(&t->configured);
	fetch_url_release(&t->url);
	fetch_answer_release(&t->answer);
	free(t);
}

static bool is_redirect(const struct fetch_answer *a)
{
	static const unsigned statuses[] = {301, 302, 303, 307, 308};
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (a->status == statuses[i])
			return fetch_header(a, "location").len > 0;
	return false;
}

static enum fetch_flow report_head(struct task *t)
{
	if (t->has_head || !t->request.on_head)
		return FETCH_GO_ON;
	t->has_head = true;
	return t->request.on_head(t->request.ctx, &t->answer, t->url.text);
}

static enum fetch_flow add_to_body(struct task *t, struct str piece)
{
	if (!t->request.on_body)
		return fetch_answer_add_body(&t->answer, piece) ? FETCH_GO_ON : FETCH_STOP;
	if (piece.len > t->request.limit - t->received) {
		t->is_too_large = true;
		return FETCH_STOP;
	}
	t->received += piece.len;
	return t->request.on_body(t->request.ctx, piece);
}

// Ignores the body of a redirect.
static enum fetch_flow on_body_piece(void *ctx, struct str piece)
{
	struct task *t = ctx;
	if (is_redirect(&t->answer))
		return FETCH_GO_ON;
	enum fetch_flow flow = report_head(t);
	if (flow == FETCH_GO_ON)
		flow = add_to_body(t, piece);
	t->is_too_large = t->is_too_large || t->answer.body.failed;
	t->is_stopped = flow == FETCH_STOP;
	return flow;
}

// What a file has goes where the password of the configured URL would. It is read again each time: it may have changed.
static int take_password(const struct fetch_pool *p, struct task *t, struct err *e)
{
	if (!p->password_file || t->has_password || t->configured.password)
		return 0;
	free(t->configured.user);
	t->configured.user = NULL;
	t->has_password = fetch_password_read(p->password_file, &t->configured.user, &t->configured.password, e) == 0;
	return t->has_password ? 0 : -1;
}

// Each error once, until it is another one. Clients do not learn where the file is.
static void refuse_password(struct fetch_pool *p, struct task *t, const struct err *why)
{
	if (!p->password_error || strcmp(p->password_error, why->msg) != 0) {
		log_error("password-file: %s", why->msg);
		free(p->password_error);
		p->password_error = xstrdup(why->msg);
	}
	finish_task(t, FETCH_PASSWORD, "password-file: the file cannot be used, and the log says why");
}

static void start_transfer(struct fetch_pool *p, struct task *t)
{
	int64_t now = clock_ms();
	struct err e = ERR_INIT;
	if (!t->has_begun && t->request.total_seconds)
		t->end_ms = now + (int64_t)t->request.total_seconds * 1000;
	t->has_begun = true;
	bool is_configured = fetch_url_same_origin(&t->url, &t->configured);
	if (is_configured && take_password(p, t, &e) < 0) {
		refuse_password(p, t, &e);
		return;
	}
	if (t->has_password)
		free(STEAL_PTR(p->password_error));
	const struct transfer_spec spec = {
		.options = &p->options,
		.url = t->url.text,
		.user = is_configured ? t->configured.user : NULL,
		.password = is_configured ? t->configured.password : NULL,
		.no_netrc = !is_configured,
		.no_private = !is_configured && !p->allow_private,
		.is_raw = t->request.is_raw,
		.headers = t->headers,
		.total_ms = !t->end_ms        ? 0
			    : t->end_ms > now ? t->end_ms - now
					      : 1,
		.answer = &t->answer,
		.on_body = on_body_piece,
		.ctx = t,
	};
	t->transfer = transfer_begin(p->set, &spec);
	if (!t->transfer) {
		finish_task(t, FETCH_OTHER, "libcurl refuses the URL or an option");
		return;
	}
	queue_add(&p->running, t);
	p->active++;
}

static bool is_allowed_host(const struct fetch_pool *p, const struct task *t, const struct fetch_url *to)
{
	if (strcmp(to->host, t->configured.host) == 0 || strcmp(to->host, t->url.host) == 0)
		return true;
	struct str rest = str_from(p->allow_hosts ? p->allow_hosts : "");
	while (rest.len)
		if (str_eq_nocase(str_cut(&rest, ' '), str_from(to->host)))
			return true;
	return false;
}

static int check_redirect(const struct fetch_pool *p, struct task *t, struct fetch_url *to, struct err *e)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_ANSWER_HEADERS);
	struct str location = fetch_header(&t->answer, "location");
	if (++t->redirects > FETCH_REDIRECTS)
		return err_set(e, ERR_NET, "more than %d redirects", FETCH_REDIRECTS);
	if (!url_resolve(str_from(t->url.text), location, &url) || url.failed || fetch_url_parse(url.data, to, e) < 0)
		return err_set(e, ERR_NET, "redirects to something other than an http: or https: URL");
	if (strcmp(t->url.scheme, "https") == 0 && strcmp(to->scheme, "https") != 0)
		return err_set(e, ERR_NET, "redirects from https: to %s", to->text);
	if (!is_allowed_host(p, t, to))
		return err_set(e, ERR_NET, "redirects to %s, which is not among the hosts that are allowed", to->text);
	return 0;
}

static void follow_redirect(struct fetch_pool *p, struct task *t)
{
	struct fetch_url to = {0};
	struct err e = ERR_INIT;
	if (check_redirect(p, t, &to, &e) < 0) {
		fetch_url_release(&to);
		finish_task(t, FETCH_REDIRECT, e.msg);
		return;
	}
	transfer_end(t->transfer);
	t->transfer = NULL;
	fetch_url_release(&t->url);
	t->url = to;
	buf_clear(&t->answer.headers);
	t->answer.status = 0;
	start_transfer(p, t);
}

static void complete_task(struct fetch_pool *p, struct task *t, enum fetch_failure failure, const char *why)
{
	queue_remove(&p->running, t);
	p->active--;
	if (t->is_too_large || t->answer.headers.failed)
		finish_task(t, FETCH_TOO_LARGE, "the answer is too large");
	else if (t->is_stopped)
		finish_task(t, FETCH_CANCELLED, "cancelled");
	else if (failure == FETCH_FORBIDDEN)
		finish_task(t, failure, "a private address, which is not allowed here");
	else if (failure == FETCH_WHOLE && is_redirect(&t->answer))
		follow_redirect(p, t);
	else if (failure == FETCH_WHOLE && report_head(t) == FETCH_STOP)
		finish_task(t, FETCH_CANCELLED, "cancelled");
	else
		finish_task(t, failure, why);
}

static void post_call(struct fetch_pool *p, const struct pool_call *call)
{
	struct pool_call *copy = xmalloc(sizeof(*copy));
	*copy = *call;
	pthread_mutex_lock(&p->lock);
	*p->calls_end = copy;
	p->calls_end = &copy->next;
	pthread_mutex_unlock(&p->lock);
	transfer_set_wake(p->set);
}

static void cancel_tasks(struct fetch_pool *p, const struct pool_call *call)
{
	struct task *t;
	while ((t = queue_find(&p->running, call->id)) || (t = queue_find(&p->queued, call->id))) {
		p->active -= t->transfer != NULL;
		queue_remove(t->transfer ? &p->running : &p->queued, t);
		finish_task(t, FETCH_CANCELLED, "cancelled");
	}
}

static void call_fn(struct fetch_pool *p UNUSED, const struct pool_call *call)
{
	call->fn(call->ctx);
}

void fetch_pool_cancel(struct fetch_pool *p, uint64_t request)
{
	post_call(p, &(struct pool_call){.run = cancel_tasks, .id = request});
}

void fetch_pool_call(struct fetch_pool *p, void (*fn)(void *ctx), void *ctx)
{
	post_call(p, &(struct pool_call){.run = call_fn, .fn = fn, .ctx = ctx});
}

// Queues the new requests and runs the calls. Returns whether the pool's thread must end.
static bool process_inbox(struct fetch_pool *p)
{
	pthread_mutex_lock(&p->lock);
	queue_append(&p->queued, &p->inbox);
	struct pool_call *calls = p->calls;
	p->calls = NULL;
	p->calls_end = &p->calls;
	bool is_ending = p->is_ending;
	pthread_mutex_unlock(&p->lock);
	while (calls) {
		struct pool_call *call = calls;
		calls = call->next;
		call->run(p, call);
		free(call);
	}
	return is_ending;
}

// Starts the queued requests that are due. Returns the milliseconds until the next one is.
static int start_due_tasks(struct fetch_pool *p)
{
	int64_t now = clock_ms(), wait = WAIT_MS;
	struct task *next;
	for (struct task *t = p->queued.first; t && p->active < p->concurrency; t = next) {
		next = t->next;
		if (t->start_ms > now) {
			wait = t->start_ms - now < wait ? t->start_ms - now : wait;
			continue;
		}
		queue_remove(&p->queued, t);
		if (t->url.text)
			start_transfer(p, t);
		else
			finish_task(t, FETCH_OTHER, t->why.msg);
	}
	return (int)wait;
}

static void poll_transfers(struct fetch_pool *p, int wait_ms)
{
	enum fetch_failure failure;
	const char *why;
	void *t;
	transfer_set_poll(p->set, wait_ms);
	while ((t = transfer_set_next_completed(p->set, &failure, &why)))
		complete_task(p, t, failure, why);
}

static bool is_idle(struct fetch_pool *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_idle = !p->inbox.first && !p->calls && !p->queued.first && !p->running.first;
	pthread_mutex_unlock(&p->lock);
	return is_idle;
}

void fetch_pool_run(struct fetch_pool *p)
{
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	while (!is_idle(p)) {
		process_inbox(p);
		int wait = start_due_tasks(p);
		if (!is_idle(p))
			poll_transfers(p, wait);
	}
}

static void *run_thread(void *ctx)
{
	struct fetch_pool *p = ctx;
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	while (!process_inbox(p))
		poll_transfers(p, start_due_tasks(p));
	return NULL;
}

void fetch_pool_start(struct fetch_pool *p)
{
	if (pthread_create(&p->thread, NULL, run_thread, p) != 0)
		abort(); // out of memory
	pthread_setname_np(p->thread, "fetch");
	p->has_thread = true;
}

void fetch_pool_free(struct fetch_pool *p)
{
	if (!p)
		return;
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	if (p->has_thread) {
		pthread_mutex_lock(&p->lock);
		p->is_ending = true;
		pthread_mutex_unlock(&p->lock);
		transfer_set_wake(p->set);
		pthread_join(p->thread, NULL);
	}
	while (!is_idle(p)) {
		process_inbox(p);
		cancel_tasks(p, &(struct pool_call){.id = 0});
	}
	transfer_set_free(p->set);
	pthread_mutex_destroy(&p->lock);
	arena_release(&p->text);
	free(p->password_error);
	free(p);
}

// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch-pool.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/net/transfer.h"
#include "lib/net/url.h"
#include "lib/os/clock.h"
#include "lib/os/sigpipe.h"

enum { WAIT_MS = 60 * 1000 }; // for anything to happen

struct task {
	struct task *next;
	struct fetch_pool *pool;
	uint64_t id;
	struct fetch_request request; // its text is in what follows
	struct fetch_url home, url;
	char **headers;
	int64_t at_ms;  // not before
	int64_t end_ms; // 0: as long as bytes come
	uint64_t taken; // of the body
	unsigned redirects;
	bool has_begun, has_head, is_stopped, is_too_large;
	struct transfer *transfer; // NULL: it waits
	struct fetch_answer answer;
	struct err why;
};

// First in, first out.
struct queue {
	struct task *first, **end;
};

struct order {
	struct order *next;
	void (*carry_out)(struct fetch_pool *p, const struct order *o);
	uint64_t id;           // of a request
	void (*fn)(void *ctx); // or a call
	void *ctx;
};

struct fetch_pool {
	struct fetch_options options;
	char *ca_file, *netrc, *allow_hosts;
	bool allow_private;
	unsigned concurrency, active;
	struct transfer_set *set;
	struct queue waiting, running; // of the thread that runs the pool

	pthread_mutex_t lock; // of what follows
	struct queue inbox;
	struct order *orders, **orders_end;
	uint64_t ids;
	bool is_ending;
	bool has_thread;
	pthread_t thread;
};

static void queue_init(struct queue *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void queue_add(struct queue *q, struct task *t)
{
	t->next = NULL;
	*q->end = t;
	q->end = &t->next;
}

static void queue_take(struct queue *q, struct task *t)
{
	struct task **at = &q->first;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (q->end == &t->next)
		q->end = at;
}

static void queue_append(struct queue *q, struct queue *other)
{
	if (!other->first)
		return;
	*q->end = other->first;
	q->end = other->end;
	queue_init(other);
}

// id 0: any.
static struct task *queue_find(const struct queue *q, uint64_t id)
{
	struct task *t = q->first;
	while (t && id && t->id != id)
		t = t->next;
	return t;
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct fetch_pool *fetch_pool_new(const struct fetch_pool_options *options)
{
	struct fetch_pool *p = xcalloc(1, sizeof(*p));
	p->options = options->fetch;
	p->options.ca_file = p->ca_file = copy_text(options->fetch.ca_file);
	p->options.netrc = p->netrc = copy_text(options->fetch.netrc);
	p->allow_hosts = copy_text(options->allow_hosts);
	p->allow_private = options->allow_private;
	p->concurrency = options->concurrency;
	p->set = transfer_set_new(options->concurrency);
	queue_init(&p->waiting);
	queue_init(&p->running);
	queue_init(&p->inbox);
	p->orders_end = &p->orders;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static char **copy_headers(const char *const *headers)
{
	size_t count = 0;
	while (headers && headers[count])
		count++;
	char **copy = xcalloc(count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = xstrdup(headers[i]);
	return copy;
}

static void free_task(struct task *t)
{
	for (size_t i = 0; t->headers[i]; i++)
		free(t->headers[i]);
	free(t->headers);
	fetch_url_release(&t->home);
	fetch_url_release(&t->url);
	fetch_answer_release(&t->answer);
	free(t);
}

// The parts of both URLs. What is bad is told by on_done, as all else.
static void read_urls(struct task *t, const struct fetch_request *r)
{
	if (fetch_url_parse(r->url, &t->url, &t->why) < 0)
		return;
	if (fetch_url_parse(r->home ? r->home : r->url, &t->home, &t->why) < 0)
		fetch_url_release(&t->url);
}

uint64_t fetch_pool_get(struct fetch_pool *p, const struct fetch_request *request)
{
	struct task *t = xcalloc(1, sizeof(*t));
	t->pool = p;
	t->request = *request;
	t->headers = copy_headers(request->headers);
	t->at_ms = clock_ms() + (int64_t)request->delay_ms;
	read_urls(t, request);
	t->request.url = t->request.home = NULL;
	size_t limit = request->limit < SIZE_MAX / 2 ? (size_t)request->limit : SIZE_MAX / 2;
	fetch_answer_init(&t->answer, limit);
	pthread_mutex_lock(&p->lock);
	uint64_t id = t->id = ++p->ids;
	queue_add(&p->inbox, t);
	pthread_mutex_unlock(&p->lock);
	transfer_set_wake(p->set);
	return id;
}

// It is in no queue any more.
static void finish(struct task *t, enum fetch_failure failure, const char *why)
{
	const char *url = t->url.text ? t->url.text : "";
	CLEANUP(mem_free)
	char *words = failure == FETCH_WHOLE ? xstrdup("") : xasprintf("%s%s%s", url, *url ? ": " : "", why);
	const struct fetch_result result = {failure, words, url, &t->answer};
	transfer_end(t->transfer);
	t->request.on_done(t->request.ctx, &result);
	free_task(t);
}

static bool is_redirect(const struct fetch_answer *a)
{
	static const unsigned statuses[] = {301, 302, 303, 307, 308};
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (a->status == statuses[i])
			return fetch_header(a, "location").len > 0;
	return false;
}

static enum fetch_flow tell_head(struct task *t)
{
	if (t->has_head || !t->request.on_head)
		return FETCH_GO_ON;
	t->has_head = true;
	return t->request.on_head(t->request.ctx, &t->answer, t->url.text);
}

static enum fetch_flow take_piece(struct task *t, struct str piece)
{
	if (!t->request.on_body)
		return fetch_answer_take_body(&t->answer, piece) ? FETCH_GO_ON : FETCH_STOP;
	if (piece.len > t->request.limit - t->taken) {
		t->is_too_large = true;
		return FETCH_STOP;
	}
	t->taken += piece.len;
	return t->request.on_body(t->request.ctx, piece);
}

// The words of a redirect are nobody's.
static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct task *t = ctx;
	if (is_redirect(&t->answer))
		return FETCH_GO_ON;
	enum fetch_flow flow = tell_head(t);
	if (flow == FETCH_GO_ON)
		flow = take_piece(t, piece);
	t->is_too_large = t->is_too_large || t->answer.body.failed;
	t->is_stopped = flow == FETCH_STOP;
	return flow;
}

static void begin(struct fetch_pool *p, struct task *t)
{
	int64_t now = clock_ms();
	if (!t->has_begun && t->request.total_seconds)
		t->end_ms = now + (int64_t)t->request.total_seconds * 1000;
	t->has_begun = true;
	bool is_home = fetch_url_same_origin(&t->url, &t->home);
	const struct transfer_spec spec = {
		.options = &p->options,
		.url = t->url.text,
		.user = is_home ? t->home.user : NULL,
		.password = is_home ? t->home.password : NULL,
		.is_foreign = !is_home,
		.no_private = !is_home && !p->allow_private,
		.is_raw = t->request.is_raw,
		.headers = (const char *const *)t->headers,
		.total_ms = !t->end_ms        ? 0
			    : t->end_ms > now ? t->end_ms - now
					      : 1,
		.answer = &t->answer,
		.on_body = on_body,
		.ctx = t,
	};
	t->transfer = transfer_begin(p->set, &spec);
	if (!t->transfer) {
		finish(t, FETCH_OTHER, "libcurl does not take it");
		return;
	}
	queue_add(&p->running, t);
	p->active++;
}

static bool is_allowed(const struct fetch_pool *p, const struct task *t, const struct fetch_url *to)
{
	if (strcmp(to->host, t->home.host) == 0 || strcmp(to->host, t->url.host) == 0)
		return true;
	struct str rest = str_from(p->allow_hosts ? p->allow_hosts : "");
	while (rest.len)
		if (str_eq_nocase(str_cut(&rest, ' '), str_from(to->host)))
			return true;
	return false;
}

static int judge_redirect(const struct fetch_pool *p, struct task *t, struct fetch_url *to, struct err *e)
{
	CLEANUP(buf_release) struct buf url;
	struct str location = fetch_header(&t->answer, "location");
	buf_init(&url, LIMIT_ANSWER_HEADERS);
	if (++t->redirects > FETCH_REDIRECTS)
		return err_set(e, ERR_NET, "redirects more than %d times", FETCH_REDIRECTS);
	if (!url_resolve(str_from(t->url.text), location, &url) || url.failed || fetch_url_parse(url.data, to, e) < 0)
		return err_set(e, ERR_NET, "redirects to what is no http: or https: URL");
	if (strcmp(t->url.scheme, "https") == 0 && strcmp(to->scheme, "https") != 0)
		return err_set(e, ERR_NET, "redirects from https: to %s", to->text);
	if (!is_allowed(p, t, to))
		return err_set(e, ERR_NET, "redirects to %s, which is not among the hosts that are allowed", to->text);
	return 0;
}

static void follow(struct fetch_pool *p, struct task *t)
{
	struct fetch_url to = {0};
	struct err e = ERR_INIT;
	if (judge_redirect(p, t, &to, &e) < 0) {
		fetch_url_release(&to);
		finish(t, FETCH_REDIRECT, e.msg);
		return;
	}
	transfer_end(t->transfer);
	t->transfer = NULL;
	fetch_url_release(&t->url);
	t->url = to;
	buf_clear(&t->answer.headers);
	t->answer.status = 0;
	begin(p, t);
}

static void conclude(struct fetch_pool *p, struct task *t, enum fetch_failure failure, const char *why)
{
	queue_take(&p->running, t);
	p->active--;
	if (t->is_too_large || t->answer.headers.failed)
		finish(t, FETCH_TOO_LARGE, "the answer is too large");
	else if (t->is_stopped)
		finish(t, FETCH_CANCELLED, "cancelled");
	else if (failure == FETCH_FORBIDDEN)
		finish(t, failure, "a private address, where a redirect may not lead");
	else if (failure == FETCH_WHOLE && is_redirect(&t->answer))
		follow(p, t);
	else if (failure == FETCH_WHOLE && tell_head(t) == FETCH_STOP)
		finish(t, FETCH_CANCELLED, "cancelled");
	else
		finish(t, failure, why);
}

static void give_order(struct fetch_pool *p, const struct order *order)
{
	struct order *o = xmalloc(sizeof(*o));
	*o = *order;
	pthread_mutex_lock(&p->lock);
	*p->orders_end = o;
	p->orders_end = &o->next;
	pthread_mutex_unlock(&p->lock);
	transfer_set_wake(p->set);
}

static void cancel(struct fetch_pool *p, const struct order *o)
{
	struct task *t;
	while ((t = queue_find(&p->running, o->id)) || (t = queue_find(&p->waiting, o->id))) {
		p->active -= t->transfer != NULL;
		queue_take(t->transfer ? &p->running : &p->waiting, t);
		finish(t, FETCH_CANCELLED, "cancelled");
	}
}

static void call(struct fetch_pool *p UNUSED, const struct order *o)
{
	o->fn(o->ctx);
}

void fetch_pool_cancel(struct fetch_pool *p, uint64_t request)
{
	give_order(p, &(struct order){.carry_out = cancel, .id = request});
}

void fetch_pool_call(struct fetch_pool *p, void (*fn)(void *ctx), void *ctx)
{
	give_order(p, &(struct order){.carry_out = call, .fn = fn, .ctx = ctx});
}

// Whether it is to end.
static bool take_inbox(struct fetch_pool *p)
{
	pthread_mutex_lock(&p->lock);
	queue_append(&p->waiting, &p->inbox);
	struct order *orders = p->orders;
	p->orders = NULL;
	p->orders_end = &p->orders;
	bool is_ending = p->is_ending;
	pthread_mutex_unlock(&p->lock);
	while (orders) {
		struct order *o = orders;
		orders = o->next;
		o->carry_out(p, o);
		free(o);
	}
	return is_ending;
}

// Begins with those whose time has come; how long there is nothing to begin.
static int begin_due(struct fetch_pool *p)
{
	int64_t now = clock_ms(), wait = WAIT_MS;
	struct task *next;
	for (struct task *t = p->waiting.first; t && p->active < p->concurrency; t = next) {
		next = t->next;
		if (t->at_ms > now) {
			wait = t->at_ms - now < wait ? t->at_ms - now : wait;
			continue;
		}
		queue_take(&p->waiting, t);
		if (t->url.text)
			begin(p, t);
		else
			finish(t, FETCH_OTHER, t->why.msg);
	}
	return (int)wait;
}

static void turn(struct fetch_pool *p, int wait_ms)
{
	enum fetch_failure failure;
	const char *why;
	void *t;
	transfer_set_poll(p->set, wait_ms);
	while ((t = transfer_set_ended(p->set, &failure, &why)))
		conclude(p, t, failure, why);
}

static bool is_idle(struct fetch_pool *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_idle = !p->inbox.first && !p->orders && !p->waiting.first && !p->running.first;
	pthread_mutex_unlock(&p->lock);
	return is_idle;
}

void fetch_pool_run(struct fetch_pool *p)
{
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	while (!is_idle(p)) {
		take_inbox(p);
		int wait = begin_due(p);
		if (!is_idle(p))
			turn(p, wait);
	}
}

static void *run_until_end(void *ctx)
{
	struct fetch_pool *p = ctx;
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	while (!take_inbox(p))
		turn(p, begin_due(p));
	return NULL;
}

void fetch_pool_start(struct fetch_pool *p)
{
	if (pthread_create(&p->thread, NULL, run_until_end, p) != 0)
		abort(); // no memory for a thread
	pthread_setname_np(p->thread, "fetch");
	p->has_thread = true;
}

static void end_thread(struct fetch_pool *p)
{
	if (!p->has_thread)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_mutex_unlock(&p->lock);
	transfer_set_wake(p->set);
	pthread_join(p->thread, NULL);
}

void fetch_pool_free(struct fetch_pool *p)
{
	if (!p)
		return;
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	end_thread(p);
	while (!is_idle(p)) {
		take_inbox(p);
		cancel(p, &(struct order){.id = 0});
	}
	transfer_set_free(p->set);
	pthread_mutex_destroy(&p->lock);
	free(p->ca_file);
	free(p->netrc);
	free(p->allow_hosts);
	free(p);
}

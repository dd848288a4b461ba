// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls-relays.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum { EVENTS = 64, CHECK_MS = 1000, STOP_CHECK_MS = 20 };

struct relay_thread {
	struct tls_relays *all;
	pthread_t thread;
	int epoll, wakeup;
	pthread_mutex_t lock;
	struct tls_relay *added; // by other threads, under the lock
	// Used by the thread alone.
	struct tls_relay *first;
	long checked; // clock_seconds() of the last check
	char scratch[TLS_RELAY_SCRATCH];
};

struct tls_relays {
	struct tls_relays_options options;
	atomic_uint next;
	atomic_bool is_stopping;
	int64_t ends_at; // by clock_ms(); set before is_stopping
	unsigned count;
	struct relay_thread *relay_thread;
};

static void link_relay(struct relay_thread *c, struct tls_relay *r)
{
	r->prev = NULL;
	r->next = c->first;
	if (r->next)
		r->next->prev = r;
	c->first = r;
}

static void drop_relay(struct relay_thread *c, struct tls_relay *r)
{
	if (r->next)
		r->next->prev = r->prev;
	if (r->prev)
		r->prev->next = r->next;
	else
		c->first = r->next;
	tls_relay_free(r);
	c->all->options.ended(c->all->options.ctx);
}

static void watch_added(struct relay_thread *c)
{
	eventfd_t times;
	eventfd_read(c->wakeup, &times);
	pthread_mutex_lock(&c->lock);
	struct tls_relay *added = STEAL_PTR(c->added);
	pthread_mutex_unlock(&c->lock);
	for (struct tls_relay *r = added, *next; r; r = next) {
		next = r->next;
		link_relay(c, r);
		tls_relay_watch(r, c->epoll);
		if (r->is_dead)
			drop_relay(c, r);
	}
}

// Once a second, drops the relays whose clients read nothing.
static void expire_relays(struct relay_thread *c)
{
	long now = clock_seconds();
	if (now == c->checked)
		return;
	c->checked = now;
	for (struct tls_relay *r = c->first, *next; r; r = next) {
		next = r->next;
		tls_relay_expire(r, now, (long)c->all->options.timeout);
		if (r->is_dead)
			drop_relay(c, r);
	}
}

// Both sockets of a relay may have an event here, so dead relays are freed after the last event.
static void handle_events(struct relay_thread *c, const struct epoll_event *event, int count)
{
	struct tls_relay *dead[EVENTS];
	unsigned died = 0;
	for (int i = 0; i < count; i++) {
		const struct tls_relay_end *end = event[i].data.ptr;
		if (!end || end->relay->is_dead)
			continue;
		tls_relay_act(end->relay, end, event[i].events, c->scratch);
		if (!end->relay->is_dead)
			tls_relay_watch(end->relay, c->epoll);
		if (end->relay->is_dead)
			dead[died++] = end->relay;
	}
	while (died)
		drop_relay(c, dead[--died]);
}

static bool has_work(const struct relay_thread *c)
{
	return !atomic_load(&c->all->is_stopping) || (c->first && clock_ms() < c->all->ends_at);
}

static void *run_relays(void *ctx)
{
	struct relay_thread *c = ctx;
	struct epoll_event event[EVENTS];
	while (has_work(c)) {
		int wait = atomic_load(&c->all->is_stopping) ? STOP_CHECK_MS : c->first ? CHECK_MS : -1;
		int count = epoll_wait(c->epoll, event, EVENTS, wait);
		handle_events(c, event, count);
		for (int i = 0; i < count; i++)
			if (!event[i].data.ptr)
				watch_added(c);
		expire_relays(c);
	}
	watch_added(c);
	while (c->first)
		drop_relay(c, c->first);
	return NULL;
}

static void start_relay_thread(struct tls_relays *t, struct relay_thread *c)
{
	struct epoll_event wakeup = {.events = EPOLLIN};
	c->all = t;
	pthread_mutex_init(&c->lock, NULL);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->epoll < 0 || c->wakeup < 0 || epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->wakeup, &wakeup) < 0 ||
		pthread_create(&c->thread, NULL, run_relays, c) != 0)
		abort();
}

struct tls_relays *tls_relays_new(const struct tls_relays_options *options)
{
	struct tls_relays *t = xcalloc(1, sizeof(*t));
	t->options = *options;
	t->count = options->threads;
	t->relay_thread = xcalloc(t->count, sizeof(*t->relay_thread));
	for (unsigned i = 0; i < t->count; i++)
		start_relay_thread(t, &t->relay_thread[i]);
	return t;
}

void tls_relays_add(struct tls_relays *t, struct tls_relay *r)
{
	struct relay_thread *c = &t->relay_thread[atomic_fetch_add(&t->next, 1) % t->count];
	pthread_mutex_lock(&c->lock);
	r->next = c->added;
	c->added = r;
	pthread_mutex_unlock(&c->lock);
	eventfd_write(c->wakeup, 1);
}

void tls_relays_free(struct tls_relays *t, unsigned milliseconds)
{
	if (!t)
		return;
	t->ends_at = clock_ms() + milliseconds;
	atomic_store(&t->is_stopping, true);
	for (unsigned i = 0; i < t->count; i++)
		eventfd_write(t->relay_thread[i].wakeup, 1);
	for (unsigned i = 0; i < t->count; i++) {
		pthread_join(t->relay_thread[i].thread, NULL);
		pthread_mutex_destroy(&t->relay_thread[i].lock);
		close(t->relay_thread[i].epoll);
		close(t->relay_thread[i].wakeup);
	}
	free(t->relay_thread);
	free(t);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/http/connections.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"

// Whether the other end of a socket has taken or sent LIMIT_STOP_PROGRESS bytes since *moved was set, which is set
// again. Of a socket that is no TCP connection the kernel only knows what waits in it: there any change is enough.
static bool client_progress_is_enough(int fd, uint64_t *moved)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	uint64_t before = *moved;
	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
		len >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received)) {
		*moved = info.tcpi_bytes_acked + info.tcpi_bytes_received;
		return *moved - before >= LIMIT_STOP_PROGRESS;
	}
	int waiting = 0;
	ioctl(fd, SIOCOUTQ, &waiting);
	*moved = (uint64_t)waiting;
	return *moved != before;
}

enum {
	CHECK_MS = 1000,
	DRAIN_POLL_MS = 20,
	RESUME_POLL_MS = 5,
	PROGRESS_MS = 2000,
	READING_S = 10, // for which a client that reads may stop: it, or this machine, may have something else to do
};

struct connections {
	pthread_mutex_t lock;
	struct timer_thread *reaper;
	struct connection_link *first;
	struct share_pool *places;
	long timeout;
	void (*checked)(void *ctx);
	void *ctx;
	atomic_bool is_draining;
	long linger; // seconds; set before is_draining
	atomic_bool is_stopping;
	atomic_uint suspended; // number of suspended requests
};

// A client that reads its answer is not idle, nor for some seconds after it. While the server stops, end_if_slow()
// measures it instead.
static void note_reading(const struct connections *t, struct connection_link *c)
{
	long since = atomic_load_explicit(&c->idle_since, memory_order_relaxed);
	if (since && !atomic_load(&t->is_draining) && client_progress_is_enough(c->fd, &c->moved))
		atomic_compare_exchange_strong(&c->idle_since, &since, clock_seconds() + READING_S);
}

static int64_t check_connections(void *ctx)
{
	struct connections *t = ctx;
	long now = clock_seconds();
	pthread_mutex_lock(&t->lock);
	for (struct connection_link *c = t->first; c; c = c->next) {
		long since = atomic_load_explicit(&c->waiting_since, memory_order_relaxed);
		if (!since) {
			// libmicrohttpd does not watch a connection that it has suspended. Bytes may arrive before the
			// end (the next request, or an alert of TLS), so a read of the socket would not show the end.
			// Upstream: intended ("MHD will not detect disconnects by the client", microhttpd.h of 0.9.75
			// and 1.0.1).
			struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};
			if (poll(&p, 1, 0) == 1)
				atomic_store_explicit(&c->has_left, true, memory_order_relaxed);
			note_reading(t, c);
			// Where a mapped file has shrunk, the kernel sends a part of the buffer. libmicrohttpd takes
			// that for a full socket and waits for EPOLLOUT, which never comes as the socket has room.
			// Setting this option, to its present value, makes the kernel report EPOLLOUT; the next write
			// fails with EFAULT, and libmicrohttpd closes the connection. Upstream: commit 2b7fe489
			// (0.9.53) takes a short send() for a full socket; the same after 1.0.1 (mhd_send.c). Not
			// reported upstream.
			const int present = 0;
			setsockopt(c->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &present, sizeof(present));
		} else if (now - since > t->timeout)
			shutdown(c->fd, SHUT_RDWR);
		else {
			// Where a piece of a request and the end of the connection arrive together, libmicrohttpd reads
			// the piece only, and its edge-triggered epoll reports the end no second time. This shutdown
			// causes another event; an answer can still be sent. Upstream: commit 2b7fe489 (0.9.53) takes a
			// short recv() for all there is; the same after 1.0.1. Close to it is bug 7192 of
			// bugs.gnunet.org, an end that is noticed at the time-out only (commit 08f933a6, in 1.0.0).
			char next;
			if (recv(c->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
				shutdown(c->fd, SHUT_RD);
		}
	}
	pthread_mutex_unlock(&t->lock);
	if (t->checked)
		t->checked(t->ctx);
	return CHECK_MS;
}

struct connections *connections_new(unsigned timeout_seconds, unsigned most, void (*checked)(void *ctx), void *ctx)
{
	struct connections *t = xcalloc(1, sizeof(*t));
	t->timeout = (long)timeout_seconds;
	t->places = share_pool_new(
		&(struct share_options){.most = most, .renews = true, .end = connections_end});
	t->checked = checked;
	t->ctx = ctx;
	pthread_mutex_init(&t->lock, NULL);
	t->reaper = timer_thread_new(check_connections, t);
	timer_thread_start(t->reaper, CHECK_MS);
	return t;
}

void connections_free(struct connections *t)
{
	if (!t)
		return;
	timer_thread_free(t->reaper);
	share_pool_free(t->places);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void connections_add(struct connections *t, struct connection_link *link, int fd, const char *peer)
{
	link->fd = fd;
	atomic_init(&link->waiting_since, clock_seconds());
	atomic_init(&link->idle_since, clock_seconds());
	link->moved = 0;
	link->moved_at = 0;
	link->place = (struct share_part){.owner = link, .idle_since = &link->idle_since};
	atomic_init(&link->is_busy, false);
	atomic_init(&link->has_left, false);
	pthread_mutex_lock(&t->lock);
	link->prev = NULL;
	link->next = t->first;
	if (link->next)
		link->next->prev = link;
	t->first = link;
	pthread_mutex_unlock(&t->lock);
	share_take(t->places, &link->place, peer, NULL, 1); // without a place it may stay as well: the library has a limit
}

void connections_end(void *link)
{
	shutdown(((struct connection_link *)link)->fd, SHUT_RDWR);
}

void connections_remove(struct connections *t, struct connection_link *link)
{
	share_give(t->places, &link->place);
	pthread_mutex_lock(&t->lock);
	if (link->next)
		link->next->prev = link->prev;
	if (link->prev)
		link->prev->next = link->next;
	else
		t->first = link->next;
	pthread_mutex_unlock(&t->lock);
}

void connections_begin_request(struct connection_link *link)
{
	atomic_store_explicit(&link->is_busy, true, memory_order_relaxed);
	connections_end_wait(link);
}

void connections_await_bytes(struct connection_link *link)
{
	atomic_store_explicit(&link->waiting_since, clock_seconds(), memory_order_relaxed);
	connections_note_sending(link);
}

void connections_note_sending(struct connection_link *link)
{
	atomic_store_explicit(&link->idle_since, clock_seconds(), memory_order_relaxed);
}

void connections_end_wait(struct connection_link *link)
{
	atomic_store_explicit(&link->waiting_since, 0, memory_order_relaxed);
	atomic_store_explicit(&link->idle_since, 0, memory_order_relaxed);
}

// connections_await_resumed() sets is_stopping and then reads the number, so a request counts itself before it reads
// is_stopping.
bool connections_suspend(struct connections *t, struct connection_link *link)
{
	atomic_fetch_add(&t->suspended, 1);
	if (atomic_load(&t->is_stopping)) {
		connections_note_resumed(t);
		return false;
	}
	connections_end_wait(link);
	return true;
}

void connections_note_resumed(struct connections *t)
{
	atomic_fetch_sub(&t->suspended, 1);
}

// The connection waits for a request, so no answer is lost.
static void end_idle_connection(struct connection_link *link)
{
	shutdown(link->fd, SHUT_RD);
}

void connections_end_request(struct connections *t, struct connection_link *link)
{
	connections_await_bytes(link);
	atomic_store(&link->is_busy, false);
	if (atomic_load(&t->is_draining) && !t->linger)
		end_idle_connection(link);
}

// Ends a connection for whose client the server waits in vain.
static void end_if_slow(struct connection_link *c)
{
	int64_t now = clock_ms();
	if (!atomic_load_explicit(&c->idle_since, memory_order_relaxed)) {
		c->moved_at = 0;
		return;
	}
	if (c->moved_at && now - c->moved_at < PROGRESS_MS)
		return;
	bool is_known = c->moved_at != 0, is_enough = client_progress_is_enough(c->fd, &c->moved);
	c->moved_at = now;
	if (is_known && !is_enough)
		connections_end(c);
}

// Ends the idle connections and returns the number of the others.
static unsigned end_idle_connections(struct connections *t)
{
	unsigned busy = 0;
	long now = clock_seconds();
	pthread_mutex_lock(&t->lock);
	for (struct connection_link *c = t->first; c; c = c->next) {
		// Whether a request is under way, or may be on its way to the server.
		if (!atomic_load(&c->is_busy) &&
			now - atomic_load_explicit(&c->waiting_since, memory_order_relaxed) >= t->linger) {
			end_idle_connection(c);
			continue;
		}
		busy++;
		if (atomic_load(&c->is_busy))
			end_if_slow(c);
	}
	pthread_mutex_unlock(&t->lock);
	return busy;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

void connections_drain(struct connections *t, unsigned seconds, unsigned linger)
{
	t->linger = (long)linger;
	atomic_store(&t->is_draining, true);
	for (unsigned waited = 0; end_idle_connections(t) && waited < seconds * 1000; waited += DRAIN_POLL_MS)
		pause_ms(DRAIN_POLL_MS);
}

bool connections_is_draining(const struct connections *t)
{
	return atomic_load_explicit(&t->is_draining, memory_order_relaxed);
}

void connections_await_resumed(struct connections *t)
{
	atomic_store(&t->is_stopping, true);
	while (atomic_load(&t->suspended))
		pause_ms(RESUME_POLL_MS);
}

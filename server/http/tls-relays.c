// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls-relays.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "server/http/tls.h"

// --- one relay ---

// The bytes of one TLS connection after its handshake, in both directions. The relay decrypts what the client sends and
// writes it to an inner socket, whose other end libmicrohttpd has. It encrypts what libmicrohttpd writes there for the
// client. In each direction it keeps at most one piece that the receiver has not read, and reads nothing more until
// that piece is written: a slow receiver slows the sender down, as on a plain socket. One thread at a time.
// Bytes that one side has not read yet.
struct tls_relay_piece {
	char *bytes; // NULL: nothing
	size_t at, len;
};

// A socket, as the data of an epoll event.
struct tls_relay_end {
	struct tls_relay *relay;
	int fd;
	uint32_t watched; // events of epoll; 0: not in the epoll set
};

struct tls_relay {
	struct tls_relay *next, *prev; // of the thread that has it
	struct tls_session *session;
	struct tls_relay_end client, inner;
	struct tls_relay_piece up, down; // for the inner socket, for the client
	long stuck_since;                // the client has read nothing of down since then; clock_seconds()
	bool client_has_ended;           // it sends nothing more
	bool inner_has_gone;             // the library has closed its end; what it has written is still there
	bool read_wants_room;            // tls_read() must send something first
	bool is_dead;                    // to be freed
};

// Bytes of a buffer that a thread lends to its relays: the relay sends at most so many to the client at a time.
enum { TLS_RELAY_SCRATCH = 64 << 10 };

// --- pieces ---

static void keep_piece(struct tls_relay_piece *p, const char *bytes, size_t len)
{
	*p = (struct tls_relay_piece){xmalloc(len), 0, len};
	memcpy(p->bytes, bytes, len);
}

// Drops the first n bytes of the piece.
static void drop_bytes(struct tls_relay_piece *p, size_t n)
{
	p->at += n;
	if (p->at < p->len)
		return;
	free(p->bytes);
	*p = (struct tls_relay_piece){0};
}

// --- from the client to the library ---

static size_t read_client(struct tls_relay *r, char *scratch)
{
	if (r->client_has_ended)
		return 0;
	ssize_t n = tls_read(r->session, scratch, TLS_RELAY_SCRATCH);
	r->read_wants_room = n == TLS_WANTS_WRITE;
	if (n == TLS_ENDED) {
		r->client_has_ended = true;
		shutdown(r->inner.fd, SHUT_WR);
	} else if (n == TLS_FAILED) {
		r->is_dead = true;
	}
	return n > 0 ? (size_t)n : 0;
}

// Where the library's socket is closed for good, the bytes are dropped: the library may still answer.
static size_t write_inner(struct tls_relay *r, const char *bytes, size_t len)
{
	ssize_t n = send(r->inner.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n >= 0)
		return (size_t)n;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return 0;
	r->client_has_ended = true;
	return len;
}

// --- from the library to the client ---

static size_t read_inner(struct tls_relay *r, char *scratch)
{
	ssize_t n = recv(r->inner.fd, scratch, TLS_RELAY_SCRATCH, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		tls_end(r->session);
		r->is_dead = true;
		return 0;
	}
	r->stuck_since = clock_seconds();
	return (size_t)n;
}

static size_t write_client(struct tls_relay *r, const char *bytes, size_t len)
{
	size_t done = 0;
	while (done < len) {
		ssize_t n = tls_write(r->session, bytes + done, len - done);
		if (n <= 0) {
			r->is_dead |= n != TLS_WANTS_READ && n != TLS_WANTS_WRITE;
			break;
		}
		done += (size_t)n;
		r->stuck_since = clock_seconds();
	}
	return done;
}

// --- both directions ---

struct direction {
	size_t piece;                                                        // offset in struct tls_relay
	size_t (*read)(struct tls_relay *r, char *scratch);                  // how many bytes; 0: none
	size_t (*write)(struct tls_relay *r, const char *bytes, size_t len); // how many were written
};

static const struct direction up = {offsetof(struct tls_relay, up), read_client, write_inner};
static const struct direction down = {offsetof(struct tls_relay, down), read_inner, write_client};

static struct tls_relay_piece *piece_of(struct tls_relay *r, const struct direction *d)
{
	return (struct tls_relay_piece *)(void *)((char *)r + d->piece);
}

static void write_piece(struct tls_relay *r, const struct direction *d)
{
	struct tls_relay_piece *p = piece_of(r, d);
	if (p->bytes)
		drop_bytes(p, d->write(r, p->bytes + p->at, p->len - p->at));
}

// One piece at a time: epoll reports what is left in the socket, and tls_read() always reads whole records.
static void pass_bytes(struct tls_relay *r, const struct direction *d, char *scratch)
{
	struct tls_relay_piece *p = piece_of(r, d);
	size_t n = p->bytes ? 0 : d->read(r, scratch);
	size_t done = n ? d->write(r, scratch, n) : 0;
	if (done < n)
		keep_piece(p, scratch + done, n - done);
}

// --- events ---

static uint32_t events_of_client(const struct tls_relay *r)
{
	bool reads = !r->up.bytes && !r->client_has_ended;
	return (reads ? EPOLLIN : 0U) | (r->down.bytes || r->read_wants_room ? EPOLLOUT : 0U);
}

// epoll reports a closed socket all the time. may_be_out: such a socket leaves the epoll set while there is nothing to
// do.
static void watch_end(struct tls_relay_end *end, int epoll, uint32_t wanted, bool may_be_out)
{
	struct epoll_event event = {.events = wanted, .data.ptr = end};
	bool is_in = end->watched != 0;
	uint32_t next = wanted || may_be_out ? wanted : EPOLLERR;
	if (next == end->watched)
		return;
	int how = !is_in ? EPOLL_CTL_ADD : next ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
	if (epoll_ctl(epoll, how, end->fd, &event) < 0)
		end->relay->is_dead = true;
	end->watched = next;
}

// Updates the events that epoll reports. The first call starts the relay. May set is_dead.
static void tls_relay_watch(struct tls_relay *r, int epoll)
{
	watch_end(&r->client, epoll, events_of_client(r), false);
	watch_end(&r->inner, epoll, (r->down.bytes ? 0U : EPOLLIN) | (r->up.bytes ? EPOLLOUT : 0U), r->inner_has_gone);
}

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

static void drop_relay(struct relay_thread *c, struct tls_relay *r)
{
	if (r->next)
		r->next->prev = r->prev;
	if (r->prev)
		r->prev->next = r->next;
	else
		c->first = r->next;
	// Closes the sockets. Bytes that were read and not written are lost.
	tls_session_free(r->session);
	close(r->client.fd);
	close(r->inner.fd);
	free(r->up.bytes);
	free(r->down.bytes);
	free(r);
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
		r->prev = NULL;
		r->next = c->first;
		if (r->next)
			r->next->prev = r;
		c->first = r;
		tls_relay_watch(r, c->epoll);
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
		// Handles the events of one of its sockets.
		uint32_t events = event[i].events;
		if (!end->relay->is_dead) {
			if (end == &end->relay->client) {
				if (events & (EPOLLERR | EPOLLHUP))
					end->relay->is_dead = true;
				if (!end->relay->is_dead && events & EPOLLOUT)
					write_piece(end->relay, &down);
				if (!end->relay->is_dead && (events & EPOLLIN || end->relay->read_wants_room))
					pass_bytes(end->relay, &up, c->scratch);
			} else {
				end->relay->inner_has_gone |= (events & (EPOLLERR | EPOLLHUP)) != 0;
				if (end->relay->inner_has_gone) { // the library reads nothing more
					end->relay->client_has_ended = true;
					drop_bytes(&end->relay->up, end->relay->up.len);
				}
				if (events & EPOLLOUT)
					write_piece(end->relay, &up);
				if (events & EPOLLIN || end->relay->inner_has_gone)
					pass_bytes(end->relay, &down, c->scratch);
			}
		}
		if (!end->relay->is_dead)
			tls_relay_watch(end->relay, c->epoll);
		if (end->relay->is_dead)
			dead[died++] = end->relay;
	}
	while (died)
		drop_relay(c, dead[--died]);
}

static void *run_relays(void *ctx)
{
	struct relay_thread *c = ctx;
	struct epoll_event event[EVENTS];
	while (!atomic_load(&c->all->is_stopping) || (c->first && clock_ms() < c->all->ends_at)) {
		int wait = atomic_load(&c->all->is_stopping) ? STOP_CHECK_MS : c->first ? CHECK_MS : -1;
		int count = epoll_wait(c->epoll, event, EVENTS, wait);
		handle_events(c, event, count);
		for (int i = 0; i < count; i++)
			if (!event[i].data.ptr)
				watch_added(c);
		// Once a second, drops the relays whose clients read nothing.
		long now = clock_seconds();
		if (now != c->checked) {
			c->checked = now;
			for (struct tls_relay *r = c->first, *next; r; r = next) {
				next = r->next;
				// Sets is_dead where the client has read nothing for longer than timeout seconds.
				if (r->down.bytes && now - r->stuck_since > ((long)c->all->options.timeout))
					r->is_dead = true;
				if (r->is_dead)
					drop_relay(c, r);
			}
		}
	}
	watch_added(c);
	while (c->first)
		drop_relay(c, c->first);
	return NULL;
}

struct tls_relays *tls_relays_new(const struct tls_relays_options *options)
{
	struct tls_relays *t = xcalloc(1, sizeof(*t));
	t->options = *options;
	t->count = options->threads;
	t->relay_thread = xcalloc(t->count, sizeof(*t->relay_thread));
	for (unsigned i = 0; i < t->count; i++) {
		struct relay_thread *c = &t->relay_thread[i];
		struct epoll_event wakeup = {.events = EPOLLIN};
		c->all = t;
		pthread_mutex_init(&c->lock, NULL);
		c->epoll = epoll_create1(EPOLL_CLOEXEC);
		c->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (c->epoll < 0 || c->wakeup < 0 || epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->wakeup, &wakeup) < 0 ||
			pthread_create(&c->thread, NULL, run_relays, c) != 0)
			abort();
	}
	return t;
}

void tls_relays_add(struct tls_relays *t, struct tls_session *session, int client, int inner)
{
	struct tls_relay *r = xcalloc(1, sizeof(*r));
	r->session = session;
	r->client = (struct tls_relay_end){.relay = r, .fd = client};
	r->inner = (struct tls_relay_end){.relay = r, .fd = inner};
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

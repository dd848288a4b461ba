// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls-handshakes.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"
#include "server/http/tls.h"

enum {
	EVENTS = 64,
	PLAIN_READS = 8, // of a request without TLS
	ACCEPTS = 16, // at a time, before handshakes continue
	SLOTS = 4096, // addresses are hashed into them; two in one slot count together
	STOP_CHECK_MS = 20,
	CHECK_MS = 1000, // how often late handshakes are dropped and a failed accept4() is repeated
	NETWORK_V6 = 8,  // bytes of an IPv6 address that name a network
};

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

// The threads that run the relays, each a part of them. They do no handshakes, so a flood of handshakes does not delay
// established connections.
struct tls_relays_options {
	unsigned threads;
	unsigned timeout;         // seconds after which a client that reads nothing is dropped
	void (*ended)(void *ctx); // a relay was freed; called by any of the threads
	void *ctx;
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

static struct tls_relays *tls_relays_new(const struct tls_relays_options *options)
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

// Relays a connection from now on. Takes over the session and both sockets, which do not block; libmicrohttpd has the other
// end of inner.
static void tls_relays_add(struct tls_relays *t, struct tls_session *session, int client, int inner)
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

// Called when no relay is added any more and libmicrohttpd has closed its ends. Sends what it has written for at most
// the given milliseconds, then closes all relays. NULL is fine.
static void tls_relays_free(struct tls_relays *t, unsigned milliseconds)
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

// --- handshakes ---

struct address_slot {
	unsigned here;  // clients without a complete handshake
	unsigned begun; // of these, handshakes that have begun
	unsigned spent; // recently begun handshakes; halved each second
};

struct handshake {
	struct handshake *next, *prev; // a list, the oldest first
	int fd;
	struct address_slot *slot;
	struct tls_session *session; // NULL: not begun
	long since;                  // clock_seconds()
	bool is_ready;               // an event has come
	socklen_t addr_len;
	struct sockaddr_storage addr;
};

struct tls_handshakes {
	struct tls_handshakes_options options;
	struct tls_relays *relays;
	pthread_t thread;
	int epoll, wakeup;
	atomic_bool is_stopping;
	int64_t ends_at;         // by clock_ms(); set before is_stopping
	atomic_uint connections; // also those of the relays
	// Used by the thread alone.
	struct handshake *first, *last;
	unsigned count, ready;
	bool has_waiting_client; // the listening socket is readable
	bool accepts;            // the listening socket is watched
	bool is_paused;          // accept4() failed: until the next check
	long checked;
	struct address_slot slot[SLOTS]; // by a hash with a secret key: a client cannot choose another one's slot
};

// --- the list ---

static struct address_slot *slot_of_address(struct tls_handshakes *h, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const void *)addr;
	const struct sockaddr_in6 *v6 = (const void *)addr;
	struct str key = {NULL, 0};
	if (addr->ss_family == AF_INET)
		key = (struct str){(const char *)&v4->sin_addr, sizeof(v4->sin_addr)};
	else if (addr->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		key = (struct str){(const char *)&v6->sin6_addr.s6_addr[12], sizeof(v4->sin_addr)};
	else if (addr->ss_family == AF_INET6)
		key = (struct str){(const char *)&v6->sin6_addr, NETWORK_V6};
	return &h->slot[hash_of(key, 0) % SLOTS];
}

static void set_ready(struct tls_handshakes *h, struct handshake *one, bool is_ready)
{
	if (one->is_ready != is_ready)
		h->ready += is_ready ? 1U : -1U;
	one->is_ready = is_ready;
}

static void unlink_handshake(struct tls_handshakes *h, struct handshake *one)
{
	set_ready(h, one, false);
	if (one->next)
		one->next->prev = one->prev;
	else
		h->last = one->prev;
	if (one->prev)
		one->prev->next = one->next;
	else
		h->first = one->next;
	h->count--;
	one->slot->here--;
	if (one->session)
		one->slot->begun--;
}

static void drop_handshake(struct tls_handshakes *h, struct handshake *one)
{
	unlink_handshake(h, one);
	tls_session_free(one->session);
	close(one->fd);
	free(one);
	atomic_fetch_sub(&h->connections, 1);
}

// --- accepting ---

static bool has_room(const struct tls_handshakes *h)
{
	return atomic_load(&h->connections) < h->options.connections;
}

static void watch_socket(struct tls_handshakes *h)
{
	bool accepts = !h->is_paused && !atomic_load(&h->is_stopping) && has_room(h);
	struct epoll_event event = {.events = accepts ? EPOLLIN : 0, .data.ptr = &h->options.socket};
	if (h->accepts != accepts)
		epoll_ctl(h->epoll, EPOLL_CTL_MOD, h->options.socket, &event);
	h->accepts = accepts;
}

unsigned tls_handshakes_most(unsigned connections)
{
	unsigned quarter = connections / 4 + 1;
	return quarter < LIMIT_HANDSHAKES ? quarter : LIMIT_HANDSHAKES;
}

// After an error such as EMFILE the next check tries again: epoll would report the socket all the time.
static void accept_some(struct tls_handshakes *h)
{
	h->has_waiting_client = false;
	for (unsigned i = 0; i < ACCEPTS && has_room(h); i++) {
		struct sockaddr_storage addr;
		socklen_t len = sizeof(addr);
		int fd = accept4(h->options.socket, (struct sockaddr *)&addr, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			h->is_paused = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
			return;
		}
		// Drops the oldest handshake of the slot that has the most.
		struct handshake *worst = NULL;
		if (h->count >= tls_handshakes_most(h->options.connections)) {
			for (struct handshake *one = h->first; one; one = one->next)
				if (!worst || one->slot->here > worst->slot->here)
					worst = one;
			if (worst)
				drop_handshake(h, worst);
		}
		struct handshake *one = xcalloc(1, sizeof(*one));
		struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = one};
		const int on = 1;
		*one = (struct handshake){.fd = fd,
			.slot = slot_of_address(h, &addr),
			.since = clock_seconds(),
			.addr_len = len,
			.addr = addr};
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		atomic_fetch_add(&h->connections, 1);
		one->prev = h->last;
		if (h->last)
			h->last->next = one;
		else
			h->first = one;
		h->last = one;
		h->count++;
		one->slot->here++;
		if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
			drop_handshake(h, one);
	}
}

// --- handshakes ---

// Passes the descriptors on and frees the handshake.
static void start_relay(struct tls_handshakes *h, struct handshake *one)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		drop_handshake(h, one);
		return;
	}
	if (!h->options.adopt(h->options.ctx, pair[1], (const struct sockaddr *)&one->addr, one->addr_len)) {
		close(pair[0]);
		drop_handshake(h, one);
		return;
	}
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, one->fd, NULL);
	unlink_handshake(h, one);
	tls_relays_add(h->relays, one->session, one->fd, pair[0]);
	free(one);
}

// A client that speaks HTTP without TLS is told so; its request is read first, as a reset would take the answer from it. A
// handshake begins with byte 22 (RFC 8446 section 5.1).
static bool answer_plain_http(const struct handshake *one)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
				     "Content-Length: 74\r\nConnection: close\r\n\r\n"
				     "400 Bad Request: this port speaks HTTPS: the address begins with https://\n";
	char request[LIMIT_REQUEST_HEADER];
	if (recv(one->fd, request, 1, MSG_PEEK | MSG_DONTWAIT) != 1 || request[0] < 'A' || request[0] > 'Z')
		return false;
	for (int i = 0; i < PLAIN_READS && recv(one->fd, request, sizeof(request), MSG_DONTWAIT) > 0; i++)
		;
	ssize_t sent = send(one->fd, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(one->fd, SHUT_WR);
	return sent > 0;
}

static bool begin_handshake(struct tls_handshakes *h, struct handshake *one)
{
	one->session = answer_plain_http(one) ? NULL : tls_accept(h->options.tls, one->fd);
	if (!one->session)
		return false;
	one->slot->begun++;
	one->slot->spent++;
	return true;
}

static void continue_handshake(struct tls_handshakes *h, struct handshake *one)
{
	set_ready(h, one, false);
	int outcome = one->session || begin_handshake(h, one) ? tls_handshake(one->session) : TLS_FAILED;
	if (outcome == 0)
		start_relay(h, one);
	else if (outcome == TLS_WANTS_WRITE) {
		struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = one};
		if (epoll_ctl(h->epoll, EPOLL_CTL_MOD, one->fd, &event) < 0)
			drop_handshake(h, one);
	} else if (outcome != TLS_WANTS_READ)
		drop_handshake(h, one);
}

// The ready handshake of the slot with the fewest recent ones. NULL: none may continue.
static struct handshake *choose_handshake(const struct tls_handshakes *h)
{
	struct handshake *best = NULL;
	for (struct handshake *one = h->ready ? h->first : NULL; one; one = one->next)
		if (one->is_ready && (one->session || one->slot->begun < LIMIT_HANDSHAKES_ADDRESS) &&
			(!best || one->slot->spent < best->slot->spent))
			best = one;
	return best;
}

// --- the thread ---

static long handshake_seconds(const struct tls_handshakes *h)
{
	return h->options.timeout < LIMIT_HANDSHAKE_SECONDS ? (long)h->options.timeout : LIMIT_HANDSHAKE_SECONDS;
}

static void note_event(struct tls_handshakes *h, const struct epoll_event *event)
{
	eventfd_t times;
	if (event->data.ptr == &h->wakeup)
		eventfd_read(h->wakeup, &times);
	else if (event->data.ptr == &h->options.socket)
		h->has_waiting_client = true;
	else
		set_ready(h, event->data.ptr, true);
}

static int wait_ms(const struct tls_handshakes *h)
{
	if (choose_handshake(h))
		return 0;
	return atomic_load(&h->is_stopping) ? STOP_CHECK_MS : CHECK_MS;
}

static void *run_handshakes(void *ctx)
{
	struct tls_handshakes *h = ctx;
	struct epoll_event event[EVENTS];
	while (!atomic_load(&h->is_stopping) || (h->first && clock_ms() < h->ends_at)) {
		watch_socket(h);
		int count = epoll_wait(h->epoll, event, EVENTS, wait_ms(h));
		for (int i = 0; i < count; i++)
			note_event(h, &event[i]);
		if (h->has_waiting_client && h->accepts) // after the events: it may drop a handshake that has one
			accept_some(h);
		struct handshake *next = choose_handshake(h);
		if (next)
			continue_handshake(h, next);
		long now = clock_seconds();
		if (now != h->checked) {
			h->checked = now;
			while (h->first && now - h->first->since > handshake_seconds(h))
				drop_handshake(h, h->first);
			for (unsigned i = 0; i < SLOTS; i++)
				h->slot[i].spent /= 2;
			h->is_paused = false;
		}
	}
	while (h->first)
		drop_handshake(h, h->first);
	return NULL;
}

// --- start and stop ---

// Lets the thread accept again. Called by a thread of the relays.
static void on_relay_ended(void *ctx)
{
	struct tls_handshakes *h = ctx;
	if (atomic_fetch_sub(&h->connections, 1) == h->options.connections)
		eventfd_write(h->wakeup, 1);
}

struct tls_handshakes *tls_handshakes_start(const struct tls_handshakes_options *options)
{
	struct tls_handshakes *h = xcalloc(1, sizeof(*h));
	h->options = *options;
	h->accepts = true;
	const struct tls_relays_options how = {options->threads, options->timeout, on_relay_ended, h};
	h->relays = tls_relays_new(&how);
	struct epoll_event socket = {.events = EPOLLIN, .data.ptr = &h->options.socket};
	struct epoll_event wakeup = {.events = EPOLLIN, .data.ptr = &h->wakeup};
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->epoll < 0 || h->wakeup < 0 || epoll_ctl(h->epoll, EPOLL_CTL_ADD, options->socket, &socket) < 0 ||
		epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->wakeup, &wakeup) < 0 ||
		pthread_create(&h->thread, NULL, run_handshakes, h) != 0)
		abort();
	return h;
}

void tls_handshakes_quiesce(struct tls_handshakes *h, unsigned milliseconds)
{
	h->ends_at = clock_ms() + (int64_t)milliseconds;
	atomic_store(&h->is_stopping, true);
	eventfd_write(h->wakeup, 1);
	pthread_join(h->thread, NULL);
	mem_close(&h->options.socket);
}

void tls_handshakes_free(struct tls_handshakes *h, unsigned milliseconds)
{
	if (!h)
		return;
	tls_relays_free(h->relays, milliseconds);
	close(h->epoll);
	close(h->wakeup);
	free(h);
}

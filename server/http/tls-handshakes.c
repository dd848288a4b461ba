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
	pthread_t thread;
	int epoll, wakeup;
	atomic_bool is_stopping;
	int64_t ends_at;         // by clock_ms(); set before is_stopping
	atomic_uint connections; // with and without a complete handshake
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

// Passes the connection on and frees the handshake.
static void pass_on(struct tls_handshakes *h, struct handshake *one)
{
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, one->fd, NULL);
	unlink_handshake(h, one);
	h->options.adopt(h->options.ctx, h, one->fd, one->session, (const struct sockaddr *)&one->addr, one->addr_len);
	free(one);
}

// A client that speaks HTTP without TLS is told so; its request is read first, as a reset would take the answer from
// it. A handshake begins with byte 22 (RFC 8446 section 5.1).
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
		pass_on(h, one);
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

void tls_handshakes_note_ended(void *handshakes)
{
	struct tls_handshakes *h = handshakes;
	if (atomic_fetch_sub(&h->connections, 1) == h->options.connections)
		eventfd_write(h->wakeup, 1);
}

struct tls_handshakes *tls_handshakes_start(const struct tls_handshakes_options *options)
{
	struct tls_handshakes *h = xcalloc(1, sizeof(*h));
	h->options = *options;
	h->accepts = true;
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

void tls_handshakes_free(struct tls_handshakes *h)
{
	if (!h)
		return;
	close(h->epoll);
	close(h->wakeup);
	free(h);
}

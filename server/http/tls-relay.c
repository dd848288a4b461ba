// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls-relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

struct tls_relay *tls_relay_new(struct tls_session *session, int client, int inner)
{
	struct tls_relay *r = xcalloc(1, sizeof(*r));
	r->session = session;
	r->client = (struct tls_relay_end){.relay = r, .fd = client};
	r->inner = (struct tls_relay_end){.relay = r, .fd = inner};
	return r;
}

void tls_relay_free(struct tls_relay *r)
{
	tls_session_free(r->session);
	close(r->client.fd);
	close(r->inner.fd);
	free(r->up.bytes);
	free(r->down.bytes);
	free(r);
}

// --- pieces ---

static void keep(struct tls_relay_piece *p, const char *bytes, size_t len)
{
	*p = (struct tls_relay_piece){xmalloc(len), 0, len};
	memcpy(p->bytes, bytes, len);
}

// The first n bytes of what is left were taken. True where that was all.
static bool taken(struct tls_relay_piece *p, size_t n)
{
	p->at += n;
	if (p->at < p->len)
		return false;
	free(p->bytes);
	*p = (struct tls_relay_piece){0};
	return true;
}

// --- from the client to the library ---

// How many of the bytes the library's socket took. Where it takes no more the rest is of no use to anybody; the answer
// may still come.
static size_t hand_in(struct tls_relay *r, const char *bytes, size_t len)
{
	ssize_t n = send(r->inner.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n >= 0)
		return (size_t)n;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return 0;
	r->client_has_ended = true;
	return len;
}

static void end_input(struct tls_relay *r)
{
	r->client_has_ended = true;
	shutdown(r->inner.fd, SHUT_WR);
}

// One piece at a time: epoll tells of what is left in the socket, and a record is always read whole.
static void take_from_client(struct tls_relay *r, char *scratch)
{
	if (r->up.bytes || r->client_has_ended)
		return;
	ssize_t n = tls_read(r->session, scratch, TLS_RELAY_SCRATCH);
	r->read_wants_room = n == TLS_WANTS_WRITE;
	if (n == TLS_ENDED)
		end_input(r);
	else if (n == TLS_FAILED)
		r->is_dead = true;
	if (n <= 0)
		return;
	size_t done = hand_in(r, scratch, (size_t)n);
	if (done < (size_t)n)
		keep(&r->up, scratch + done, (size_t)n - done);
}

static void go_on_with_library(struct tls_relay *r)
{
	struct tls_relay_piece *p = &r->up;
	if (p->bytes)
		taken(p, hand_in(r, p->bytes + p->at, p->len - p->at));
}

// --- from the library to the client ---

// How many of the bytes the client's socket took.
static size_t hand_out(struct tls_relay *r, const char *bytes, size_t len)
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

static void finish(struct tls_relay *r)
{
	tls_end(r->session);
	r->is_dead = true;
}

static void take_from_library(struct tls_relay *r, char *scratch)
{
	if (r->down.bytes)
		return;
	ssize_t n = recv(r->inner.fd, scratch, TLS_RELAY_SCRATCH, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		finish(r);
		return;
	}
	r->stuck_since = clock_seconds();
	size_t done = hand_out(r, scratch, (size_t)n);
	if (done < (size_t)n)
		keep(&r->down, scratch + done, (size_t)n - done);
}

static void go_on_with_client(struct tls_relay *r)
{
	struct tls_relay_piece *p = &r->down;
	if (p->bytes)
		taken(p, hand_out(r, p->bytes + p->at, p->len - p->at));
}

// --- what it waits for ---

static uint32_t of_client(const struct tls_relay *r)
{
	bool reads = !r->up.bytes && !r->client_has_ended;
	return (reads ? EPOLLIN : 0U) | (r->down.bytes || r->read_wants_room ? EPOLLOUT : 0U);
}

static uint32_t of_inner(const struct tls_relay *r)
{
	return (r->down.bytes ? 0U : EPOLLIN) | (r->up.bytes ? EPOLLOUT : 0U);
}

// An end whose other side has gone is told of again and again: it is taken out while nothing can be done about it.
static void watch(struct tls_relay_end *end, int epoll, uint32_t wanted, bool may_be_out)
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

void tls_relay_watch(struct tls_relay *r, int epoll)
{
	watch(&r->client, epoll, of_client(r), false);
	watch(&r->inner, epoll, of_inner(r), r->inner_has_gone);
}

static void act_client(struct tls_relay *r, uint32_t events, char *scratch)
{
	if (events & (EPOLLERR | EPOLLHUP))
		r->is_dead = true;
	if (!r->is_dead && events & EPOLLOUT)
		go_on_with_client(r);
	if (!r->is_dead && (events & EPOLLIN || r->read_wants_room))
		take_from_client(r, scratch);
}

static void act_inner(struct tls_relay *r, uint32_t events, char *scratch)
{
	r->inner_has_gone |= (events & (EPOLLERR | EPOLLHUP)) != 0;
	if (r->inner_has_gone) { // and takes nothing more
		r->client_has_ended = true;
		taken(&r->up, r->up.len);
	}
	if (events & EPOLLOUT)
		go_on_with_library(r);
	if (events & EPOLLIN || r->inner_has_gone)
		take_from_library(r, scratch);
}

void tls_relay_act(struct tls_relay *r, const struct tls_relay_end *end, uint32_t events,
	char scratch[TLS_RELAY_SCRATCH])
{
	if (r->is_dead)
		return;
	if (end == &r->client)
		act_client(r, events, scratch);
	else
		act_inner(r, events, scratch);
}

void tls_relay_expire(struct tls_relay *r, long now, long timeout)
{
	if (r->down.bytes && now - r->stuck_since > timeout)
		r->is_dead = true;
}

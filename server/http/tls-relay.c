// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls-relay.h"

#include <errno.h>
#include <stddef.h>
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

static uint32_t events_of_inner(const struct tls_relay *r)
{
	return (r->down.bytes ? 0U : EPOLLIN) | (r->up.bytes ? EPOLLOUT : 0U);
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

void tls_relay_watch(struct tls_relay *r, int epoll)
{
	watch_end(&r->client, epoll, events_of_client(r), false);
	watch_end(&r->inner, epoll, events_of_inner(r), r->inner_has_gone);
}

static void handle_client(struct tls_relay *r, uint32_t events, char *scratch)
{
	if (events & (EPOLLERR | EPOLLHUP))
		r->is_dead = true;
	if (!r->is_dead && events & EPOLLOUT)
		write_piece(r, &down);
	if (!r->is_dead && (events & EPOLLIN || r->read_wants_room))
		pass_bytes(r, &up, scratch);
}

static void handle_inner(struct tls_relay *r, uint32_t events, char *scratch)
{
	r->inner_has_gone |= (events & (EPOLLERR | EPOLLHUP)) != 0;
	if (r->inner_has_gone) { // the library reads nothing more
		r->client_has_ended = true;
		drop_bytes(&r->up, r->up.len);
	}
	if (events & EPOLLOUT)
		write_piece(r, &up);
	if (events & EPOLLIN || r->inner_has_gone)
		pass_bytes(r, &down, scratch);
}

void tls_relay_act(struct tls_relay *r, const struct tls_relay_end *end, uint32_t events,
	char scratch[TLS_RELAY_SCRATCH])
{
	if (r->is_dead)
		return;
	if (end == &r->client)
		handle_client(r, events, scratch);
	else
		handle_inner(r, events, scratch);
}

void tls_relay_expire(struct tls_relay *r, long now, long timeout)
{
	if (r->down.bytes && now - r->stuck_since > timeout)
		r->is_dead = true;
}

// SPDX-License-Identifier: Apache-2.0
// The bytes of one TLS connection after its handshake, in both directions. The relay decrypts what the client sends and
// writes it to an inner socket, whose other end libmicrohttpd has. It encrypts what libmicrohttpd writes there for the
// client. In each direction it keeps at most one piece that the receiver has not read, and reads nothing more until
// that piece is written: a slow receiver slows the sender down, as on a plain socket. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/http/tls.h"

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

// Takes over the session and both sockets, which do not block. tls_relay_free() frees the result.
struct tls_relay *tls_relay_new(struct tls_session *session, int client, int inner);
// Closes the sockets. Bytes that were read and not written are lost.
void tls_relay_free(struct tls_relay *r);
// Updates the events that epoll reports. The first call starts the relay. May set is_dead.
void tls_relay_watch(struct tls_relay *r, int epoll);
// Handles the events of one of its sockets. May set is_dead: then the caller frees the relay, after all of its events.
void tls_relay_act(struct tls_relay *r, const struct tls_relay_end *end, uint32_t events,
	char scratch[TLS_RELAY_SCRATCH]);
// Sets is_dead where the client has read nothing for longer than timeout seconds.
void tls_relay_expire(struct tls_relay *r, long now, long timeout);

// SPDX-License-Identifier: Apache-2.0
// One TLS connection whose handshake is done, as bytes that go both ways: what the client sends is decrypted and written
// to an inner socket, whose other end the HTTP library has; what comes from there is encrypted for the client. Of each
// way at most one piece is kept that the other side has not taken, and nothing is read behind it: so who does not read
// slows the sender down, as on a plain socket. Each relay is one thread's at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/http/tls.h"

// What one side has not taken yet.
struct tls_relay_piece {
	char *bytes; // NULL: nothing
	size_t at, len;
};

// A socket as epoll knows it.
struct tls_relay_end {
	struct tls_relay *relay;
	int fd;
	uint32_t watched; // events of epoll; 0: it is not in there
};

struct tls_relay {
	struct tls_relay *next, *prev; // of whoever keeps it
	struct tls_session *session;
	struct tls_relay_end client, inner;
	struct tls_relay_piece up, down; // for the inner socket, for the client
	long stuck_since;                // since when the client takes nothing of down: a second of the monotonic clock
	bool client_has_ended;           // sends nothing more
	bool inner_has_gone;             // the library has closed its end: what it has written is still there
	bool read_wants_room;            // tls_read() has something to send first
	bool is_dead;
};

enum { TLS_RELAY_SCRATCH = 64 << 10 }; // that a thread lends to its relays: so many bytes for the client at a time

// Takes over the session and both sockets, which do not block.
struct tls_relay *tls_relay_new(struct tls_session *session, int client, int inner);
// Closes everything. What was read and not taken is lost.
void tls_relay_free(struct tls_relay *r);
// Watches what it waits for; first called when it is to begin.
void tls_relay_watch(struct tls_relay *r, int epoll);
// One of its sockets has these events. Afterwards is_dead may be set: then it is to be freed, once no event of it is left.
void tls_relay_act(struct tls_relay *r, const struct tls_relay_end *end, uint32_t events,
	char scratch[TLS_RELAY_SCRATCH]);
// Ends it where the client has not taken anything for longer than so many seconds.
void tls_relay_expire(struct tls_relay *r, long now, long timeout);

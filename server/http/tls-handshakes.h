// SPDX-License-Identifier: Apache-2.0
// Accepts TLS connections and does their handshakes in one thread, so that handshakes use at most one processor. The
// expensive step is done first for the address that had the fewest recently, and for at most LIMIT_HANDSHAKES_ADDRESS
// clients of an address at a time. At most LIMIT_HANDSHAKES clients are in a handshake; for one more, the thread drops
// the oldest of the address that has the most. An IPv6 /64 counts as one address.
//
// One thread calls the functions, unless stated otherwise.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "server/http/tls.h"

struct tls_handshakes;

struct tls_handshakes_options {
	int socket;           // listening; closed by tls_handshakes_quiesce()
	struct tls *tls;      // borrowed
	unsigned connections; // limit, with and without a complete handshake; further ones are not accepted yet
	unsigned timeout;     // seconds without progress; for a handshake at most LIMIT_HANDSHAKE_SECONDS
	// Takes over the socket and the session of a connection from this address. Called by the thread. When the
	// connection ends, tls_handshakes_note_ended(h) is called.
	void (*adopt)(void *ctx, struct tls_handshakes *h, int fd, struct tls_session *session,
		const struct sockaddr *addr, socklen_t len);
	void *ctx;
};

// At most so many handshakes at once, of so many connections.
unsigned tls_handshakes_most(unsigned connections);
struct tls_handshakes *tls_handshakes_start(const struct tls_handshakes_options *options);
// Stops accepting, lets the handshakes under way end for at most the given milliseconds, and drops the others.
// Afterwards adopt is not called any more.
void tls_handshakes_quiesce(struct tls_handshakes *h, unsigned milliseconds);
// A connection that adopt took has ended: the thread may accept another one. Any thread, until tls_handshakes_free().
void tls_handshakes_note_ended(void *handshakes);
// Called after tls_handshakes_quiesce(), when all connections have ended. NULL is fine.
void tls_handshakes_free(struct tls_handshakes *h);

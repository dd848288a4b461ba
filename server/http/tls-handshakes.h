// SPDX-License-Identifier: Apache-2.0
// Accepts TLS connections and does their handshakes in one thread, so that handshakes use at most one processor. The
// expensive step is done first for the address that had the fewest recently, and for at most LIMIT_HANDSHAKES_ADDRESS
// clients of an address at a time. At most LIMIT_HANDSHAKES clients are in a handshake; for one more, the thread drops
// the oldest of the address that has the most. An IPv6 /64 counts as one address.
//
// One thread calls the functions.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "server/http/tls.h"

struct tls_handshakes;

struct tls_handshakes_options {
	int socket;           // listening; closed by tls_handshakes_quiesce()
	struct tls *tls;      // borrowed
	unsigned connections; // limit, including those of the relays; further ones are not accepted yet
	unsigned timeout;     // seconds without progress; for a handshake at most LIMIT_HANDSHAKE_SECONDS
	unsigned threads;     // number of relay threads
	// Takes over fd, the plain end of a connection from this address. Called by the thread. False: it has closed
	// fd.
	bool (*adopt)(void *ctx, int fd, const struct sockaddr *addr, socklen_t len);
	void *ctx;
};

// At most so many handshakes at once, of so many connections.
unsigned tls_handshakes_most(unsigned connections);
struct tls_handshakes *tls_handshakes_start(const struct tls_handshakes_options *options);
// Stops accepting, lets the handshakes under way end for at most the given milliseconds, and drops the others.
// Afterwards adopt is not called any more.
void tls_handshakes_quiesce(struct tls_handshakes *h, unsigned milliseconds);
// Called after tls_handshakes_quiesce(), when libmicrohttpd has closed its ends. The relays send the rest for at most
// the given milliseconds. NULL is fine.
void tls_handshakes_free(struct tls_handshakes *h, unsigned milliseconds);

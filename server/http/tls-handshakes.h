// SPDX-License-Identifier: Apache-2.0
// Accepts TLS connections and does their handshakes, in one thread: so handshakes take one processor at most, whoever
// asks for them. What is costly is done for the address first that had the fewest lately, and of one address for
// LIMIT_HANDSHAKES_ADDRESS clients at a time. LIMIT_HANDSHAKES clients at most are on their way; for one more, the oldest
// of the address that has the most has to go. An IPv6 network of 64 bits counts as an address.
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "server/http/tls-relays.h"

struct tls_handshakes;

struct tls_handshakes_options {
	int socket;           // which listens; becomes the thread's
	struct tls *tls;      // borrowed
	unsigned connections; // at most, with those that relays have; one more waits to be accepted
	unsigned timeout;     // seconds: LIMIT_HANDSHAKE_SECONDS, where that is less, are left for a handshake
	unsigned threads;     // of the relays
	// Takes over the end of a connection in the clear, whose client has this address. False: it is closed already.
	bool (*adopt)(void *ctx, int fd, const struct sockaddr *addr, socklen_t len);
	void *ctx;
};

struct tls_handshakes *tls_handshakes_start(const struct tls_handshakes_options *options);
// Accepts no more, and drops the handshakes under way. Afterwards nothing is adopted any more.
void tls_handshakes_quiesce(struct tls_handshakes *h);
// After the library has closed its ends: lets the rest go out for at most so many milliseconds. NULL is fine.
void tls_handshakes_free(struct tls_handshakes *h, unsigned milliseconds);

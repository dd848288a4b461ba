// SPDX-License-Identifier: Apache-2.0
// The threads that run the TLS relays, each a part of them. They do no handshakes, so a flood of handshakes does not
// delay established connections.
#pragma once

#include "server/http/tls.h"

struct tls_relays;

struct tls_relays_options {
	unsigned threads;
	unsigned timeout;         // seconds after which a client that reads nothing is dropped
	void (*ended)(void *ctx); // a relay was freed; called by any of the threads
	void *ctx;
};

struct tls_relays *tls_relays_new(const struct tls_relays_options *options);
// Relays a connection from now on. Takes over the session and both sockets, which do not block; libmicrohttpd has the other
// end of inner. Any thread. The other functions: one thread.
void tls_relays_add(struct tls_relays *t, struct tls_session *session, int client, int inner);
// Called when no relay is added any more and libmicrohttpd has closed its ends. Sends what it has written for at most
// the given milliseconds, then closes all relays. NULL is fine.
void tls_relays_free(struct tls_relays *t, unsigned milliseconds);

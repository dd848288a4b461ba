// SPDX-License-Identifier: Apache-2.0
// The threads that carry the bytes of TLS connections, each a part of them. Handshakes are not done here, so whatever
// strangers do there, connections that are established go on.
#pragma once

#include "server/http/tls-relay.h"

struct tls_relays;

struct tls_relays_options {
	unsigned threads;
	unsigned timeout;         // seconds: a client that takes nothing for so long is let go
	void (*ended)(void *ctx); // a relay has been freed; from any of the threads
	void *ctx;
};

struct tls_relays *tls_relays_new(const struct tls_relays_options *options);
// Takes the relay over. Any thread.
void tls_relays_add(struct tls_relays *t, struct tls_relay *r);
// Lets what the library has written go out for at most so many milliseconds, then closes the rest. Nobody adds any
// more, and the library has closed its ends. NULL is fine.
void tls_relays_free(struct tls_relays *t, unsigned milliseconds);

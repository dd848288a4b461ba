// SPDX-License-Identifier: Apache-2.0
// TLS where libmicrohttpd reads and writes: this module defines recv(), send(), sendmsg(), sendfile64(), shutdown() and
// close(), which take the place of the C library's in the whole program. Of a descriptor that was given a session they
// decrypt and encrypt, until it is closed; of all others they do what the C library's do, and work around bugs of
// libmicrohttpd. So it handles a TLS connection in its event loop like any other, and no descriptor that has a session
// lets out bytes that are not encrypted.
//
// libmicrohttpd has TLS of its own, by GnuTLS: a handshake cost four times as much as OpenSSL's, and resumed nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "server/http/tls.h"

// Gives fd, a connected socket, the session, whose handshake is complete. Takes over both: close(fd) frees the session
// and then calls ended, in the thread that closes. False: it has closed fd already. One thread at a time.
bool sockets_secure(int fd, struct tls_session *s, void (*ended)(void *ctx), void *ctx);
// To see whether libmicrohttpd calls this module: of fd recv() gives the bytes of the request, what is sent is counted
// and goes nowhere, and close() ends the probe, which the caller has. As sockets_secure().
struct sockets_probe {
	const char *request;
	size_t received, sent;
	bool is_closed;
};
bool sockets_probe(int fd, struct sockets_probe *probe);

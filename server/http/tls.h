// SPDX-License-Identifier: Apache-2.0
// TLS 1.2 and 1.3 on a connected socket, by OpenSSL, which no other file of the server knows: a certificate with its key,
// read and checked before anything is served, and the sessions that use it.
//
// Sessions are resumed by tickets (RFC 5077; RFC 8446, 2.2), so the server keeps nothing for a client that is away. The
// keys that seal tickets live in memory alone, for TLS_TICKET_SECONDS; a ticket of older ones costs a whole handshake.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct tls;

enum {
	TLS_TICKET_SECONDS = 4 * 3600, // so long the keys of tickets are used
	TLS_RECORD = 16 << 10,         // bytes that one tls_read() gives at most (RFC 8446, 5.1)
};

// Both paths NULL: no TLS, *out is NULL. ERR_USAGE where one of them is missing, or the files are no certificate and its
// key.
int tls_load(const char *cert_path, const char *key_path, struct tls **out, struct err *e) MUST_CHECK;
// Reads the same files again, for sessions that begin from now on. Where that fails all stays as it was. Any thread.
int tls_renew(struct tls *t, struct err *e) MUST_CHECK;
void tls_free(struct tls *t); // NULL is fine; sessions may outlive it once their handshake has ended
// What listen_open() says is http://, and is not. ERR_USAGE for a socket file.
int tls_url(char **url, struct err *e) MUST_CHECK;

// --- one connection; one thread at a time ---

struct tls_session;

// What a call waits for before it can go on. All of these are negative, so that they fit beside a count of bytes.
enum tls_outcome {
	TLS_WANTS_READ = -1,  // bytes of the client
	TLS_WANTS_WRITE = -2, // room in the socket
	TLS_ENDED = -3,       // the client sends nothing more
	TLS_FAILED = -4,
};

// The socket is the caller's, open as long as the session, and does not block. NULL: out of memory. One thread alone calls
// this and tls_handshake(), for all of its sessions.
struct tls_session *tls_accept(struct tls *t, int fd);
// 0 when the handshake is done, or an outcome.
int tls_handshake(struct tls_session *s);
// How many bytes, or an outcome. room is TLS_RECORD at least: so nothing that has arrived is left behind unseen. TLS_WANTS_READ
// may also be said while the socket has more, so that no client keeps the caller: what waits for it must be told of what is there.
ssize_t tls_read(struct tls_session *s, char *out, size_t room);
// How many of the bytes were taken, perhaps not all; or an outcome, after which the same bytes are to be given again
// (they may lie elsewhere).
ssize_t tls_write(struct tls_session *s, const char *bytes, size_t len);
// Tells the client that nothing more comes (close_notify), where the socket has room for it.
void tls_end(struct tls_session *s);
void tls_session_free(struct tls_session *s); // NULL is fine

// SPDX-License-Identifier: Apache-2.0
// TLS 1.2 and 1.3 on a connected socket, by OpenSSL: a certificate with its key, which is read and checked before the
// server starts, and the sessions that use it.
//
// Sessions are resumed by tickets (RFC 5077; RFC 8446 section 2.2), so the server stores nothing for clients. The
// ticket keys exist in memory only, for TLS_TICKET_SECONDS. A ticket of older keys leads to a full handshake.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct tls;

enum {
	TLS_TICKET_SECONDS = 4 * 3600, // lifetime of the ticket keys
	TLS_RECORD = 16 << 10,         // most bytes of a record (RFC 8446 section 5.1)
};

// The caller frees *out. Both paths NULL: no TLS, and *out is NULL. ERR_USAGE where one of them is missing, or the
// files are not a certificate and its key; ERR_IO where a file cannot be read.
int tls_load(const char *cert_path, const char *key_path, struct tls **out, struct err *e) MUST_CHECK;
// Reads the files again, for sessions that begin from now on. On an error the old certificate stays. Any thread.
int tls_renew(struct tls *t, struct err *e) MUST_CHECK;
// The time at which the first certificate of the file ends, in seconds since 1970. ERR_USAGE where it has none.
int tls_certificate_end(const char *cert_path, int64_t *end, struct err *e) MUST_CHECK;
void tls_free(struct tls *t); // NULL is fine. Sessions with a complete handshake may outlive it
// Changes http:// in the URL of listen_open() to https://. ERR_USAGE for a socket file.
int tls_url(char **url, struct err *e) MUST_CHECK;

// --- one connection; one thread at a time ---

struct iovec;
struct tls_session;

// Why a handshake is not complete. All are negative.
enum tls_outcome {
	TLS_WANTS_READ = -1,  // call again when the socket is readable
	TLS_WANTS_WRITE = -2, // call again when the socket is writable
	TLS_FAILED = -3,
};

// The session of a new connection; the caller frees it. The caller owns the socket, which does not block and stays open
// as long as the session. NULL: out of memory. One thread calls this and tls_handshake() for all sessions of t.
struct tls_session *tls_accept(struct tls *t, int fd);
// 0 when the handshake is complete, or an outcome.
int tls_handshake(struct tls_session *s);
// The socket has another descriptor from now on.
void tls_move(struct tls_session *s, int fd);

// After the handshake, for a caller that waits for edge-triggered events as on a plain socket. They return what recv()
// and sendmsg() would, and set errno. Where they return less than there is room for, or EAGAIN, an event follows.
// EINTR: the caller lets others go first and calls again.
ssize_t tls_receive(struct tls_session *s, char *out, size_t room);
// Sends as few records as possible. After an error the caller passes the same bytes again, perhaps at another address.
// They may be of mapped files that shrink: EFAULT.
enum { TLS_PARTS = 2 }; // at most
ssize_t tls_send(struct tls_session *s, const struct iovec *part, size_t parts);
// Sends close_notify, if the socket has room for it.
void tls_end(struct tls_session *s);
void tls_session_free(struct tls_session *s); // NULL is fine

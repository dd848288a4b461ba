// SPDX-License-Identifier: Apache-2.0
// TLS 1.2 and 1.3 on a connected socket, by OpenSSL: a certificate with its key, which is read and checked before the
// server starts, and the sessions that use it.
//
// Sessions are resumed by tickets (RFC 5077; RFC 8446 section 2.2), so the server stores nothing for clients. The
// ticket keys exist in memory only, for TLS_TICKET_SECONDS. A ticket of older keys leads to a full handshake.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct tls;

enum {
	TLS_TICKET_SECONDS = 4 * 3600, // lifetime of the ticket keys
	TLS_RECORD = 16 << 10,         // most bytes of one tls_read() (RFC 8446 section 5.1)
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

struct tls_session;

// Why a call did not complete. All are negative, unlike a count of bytes.
enum tls_outcome {
	TLS_WANTS_READ = -1,  // call again when the socket is readable
	TLS_WANTS_WRITE = -2, // call again when the socket is writable
	TLS_ENDED = -3,       // the client sends nothing more
	TLS_FAILED = -4,
};

// The session of a new connection; the caller frees it. The caller owns the socket, which does not block and stays open
// as long as the session. NULL: out of memory. One thread calls this and tls_handshake() for all sessions of t.
struct tls_session *tls_accept(struct tls *t, int fd);
// 0 when the handshake is complete, or an outcome.
int tls_handshake(struct tls_session *s);
// Returns how many bytes it read, or an outcome. room is at least TLS_RECORD, so that no decrypted byte stays in the
// session. TLS_WANTS_READ may come while the socket has more, so that no client occupies the caller: it needs
// level-triggered events.
ssize_t tls_read(struct tls_session *s, char *out, size_t room);
// Returns how many bytes it wrote, perhaps not all, or an outcome. After an outcome the caller passes the same bytes
// again, perhaps at another address.
ssize_t tls_write(struct tls_session *s, const char *bytes, size_t len);
// Sends close_notify, if the socket has room for it.
void tls_end(struct tls_session *s);
void tls_session_free(struct tls_session *s); // NULL is fine

// SPDX-License-Identifier: Apache-2.0
// An HTTP client for one request at a time, with libcurl. It does not follow redirects.
// For many requests at once see lib/net/fetch-pool.h.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/os/byte-source.h"

// How a request can end.
enum fetch_failure {
	FETCH_WHOLE,   // a complete response, with any status
	FETCH_REFUSED, // no connection, or it was lost before the headers
	FETCH_RESOLVE, // the host has no address
	FETCH_TIMEOUT,
	FETCH_TLS,       // no TLS, or an untrusted certificate
	FETCH_TRUNCATED, // the connection was lost in the headers or the body
	FETCH_TOO_LARGE, // headers or a body beyond the limit
	FETCH_REDIRECT,  // a redirect that is not followed: its target is not allowed, or there are too many
	FETCH_FORBIDDEN, // a private address that is not allowed
	FETCH_PASSWORD,  // the file of the password cannot be used
	FETCH_CANCELLED,
	FETCH_OTHER,
	FETCH_FAILURE_COUNT,
};
extern const char *const fetch_failure_name[FETCH_FAILURE_COUNT]; // "refused", "timeout", …

// What a callback of lib/net/fetch-pool.h can answer.
enum fetch_flow {
	FETCH_GO_ON,
	FETCH_STOP, // end the request: on_done follows with FETCH_CANCELLED
};

// A response, collected while it arrives.
struct fetch_answer {
	unsigned status;      // 0: no response yet
	uint64_t retry_after; // seconds, from the header Retry-After; 0: none
	struct buf headers;   // one line each, "name: value\n"
	struct buf body;
	bool is_cut; // the body, of a status from 400 on: more of it is not wanted
};

// limit: of the body, in bytes. A longer body is an error; the body of a status from 400 on is cut instead.
void fetch_answer_init(struct fetch_answer *a, size_t limit);
void fetch_answer_release(struct fetch_answer *a); // for CLEANUP
// The value of the first header of this name, borrowed from the answer. Empty if there is none.
struct str fetch_header(const struct fetch_answer *a, const char *name);

struct fetch_options {
	const char *ca_file;         // trusted certificates (PEM); NULL: the system's
	const char *user, *password; // for Basic authentication; NULL: those of netrc for the host
	const char *netrc;           // a file that must exist; NULL: ~/.netrc if it exists
	bool is_direct;              // without the proxy that the environment names
	unsigned connect_seconds;    // time limit for connecting
	unsigned stall_seconds;      // time limit without a byte in either direction
	// Called from time to time with the number of bytes of the body that were sent; false ends the request. NULL is
	// fine.
	bool (*progress)(void *ctx, uint64_t sent);
	void *ctx;
};

// Reads a file of one line USER:PASSWORD, which no other account may read. The caller frees *user and *password;
// nothing is to be freed on an error, which names the file and shows nothing of it: ERR_USAGE for its mode and its
// form, and those of safefile.h. Any thread.
int fetch_password_read(const char *path, char **user, char **password, struct err *e) MUST_CHECK;

// Keeps connections open from one request to the next. One thread at a time.
struct fetch;

// Borrows what the options point to until fetch_free. Memory that runs out ends the process.
struct fetch *fetch_new(const struct fetch_options *options);
void fetch_free(struct fetch *f); // NULL is fine

// A multipart/form-data body (RFC 7578): the fields, then the file. Everything is borrowed for the request.
struct fetch_field {
	const char *name;
	const char *value;
};
struct fetch_form {
	const struct fetch_field *field;
	size_t count;
	const char *file_field, *file_name;
	int fd; // of the file; read with pread() from offset 0
	uint64_t size;
};

// They return 0 if there was a response, with any status; out was initialised by the caller, who releases it.
// ERR_NET: no connection, a lost one, or a timeout; another try may succeed. ERR_DENIED: TLS does not trust the server.
// ERR_LIMIT: the response is too large. ERR_USAGE: a malformed URL, or a certificate or netrc file that cannot be read.
// url is http: or https:. headers are lines "Name: value" with NULL at the end, or NULL. A form is sent once at most.
int fetch_get(struct fetch *f, const char *url, const char *const *headers, struct fetch_answer *out,
	struct err *e) MUST_CHECK;
int fetch_post(struct fetch *f, const char *url, const char *const *headers, const struct fetch_form *form,
	struct fetch_answer *out, struct err *e) MUST_CHECK;
// Posts these bytes, whose type one of the headers says. They may be sent twice, where a connection is lost: for
// requests that the server may process again.
int fetch_post_body(struct fetch *f, const char *url, const char *const *headers, struct str body,
	struct fetch_answer *out, struct err *e) MUST_CHECK;

// A request of any method, for an object store.
struct fetch_call {
	const char *method; // "HEAD", "PUT", …
	const char *url;
	const char *const *headers;    // lines "Name: value" with NULL at the end; each has a value
	const struct byte_source *body; // NULL: none, unless the method is PUT or POST, which have then an empty one
	uint64_t offset, size;          // the part of it that is sent; each try of libcurl's sends it from the beginning
	int64_t total_ms; // time limit; 0: none but the one for a stall
	// Called with each piece of the body of a status below 300; false ends the request. NULL: the answer collects
	// it.
	bool (*on_body)(void *ctx, struct str piece);
	void *ctx;
};
int fetch_call(struct fetch *f, const struct fetch_call *call, struct fetch_answer *out, struct err *e) MUST_CHECK;

// The parts of a URL as libcurl sees them. They are owned; fetch_url_release frees them.
struct fetch_url {
	char *text;                 // without user, password and fragment
	char *scheme, *host, *port; // in lower case; port is the default one if the text has none
	char *user, *password;      // percent-decoded; NULL: none
};
// ERR_USAGE unless it is an http: or https: URL. The message does not show the text, which may have a password. Any
// thread.
int fetch_url_parse(const char *text, struct fetch_url *out, struct err *e) MUST_CHECK;
void fetch_url_release(struct fetch_url *u); // for CLEANUP; all NULL is fine
bool fetch_url_same_origin(const struct fetch_url *a, const struct fetch_url *b);

// Which certificates a command trusts: those that are given, else those of $CURL_CA_BUNDLE or $SSL_CERT_FILE, as curl
// takes them, or $PIP_CERT; NULL: the system's. For struct fetch_options. Borrowed, perhaps from the environment. Any
// thread, while nobody changes the environment.
const char *fetch_ca_file(const char *given);

// Blocks SIGPIPE in the calling thread while a library writes to sockets: OpenSSL uses write(2), and libcurl leaves the
// signal to its caller (CURLOPT_NOSIGNAL). Any thread; hold and release in the same one. Nothing here fails.
struct sigpipe {
	sigset_t before;
	bool was_pending;
};

void sigpipe_hold(struct sigpipe *s);
// Discards a SIGPIPE that came meanwhile and restores the signal mask. For CLEANUP.
void sigpipe_release(struct sigpipe *s);

// --- requests at the same time, for lib/net/fetch-pool.c; one thread at a time, except transfer_set_wake() ---

struct transfer;
struct transfer_set;

// Add a header line or a piece of the body to an answer. A status line discards the headers before it. False if a limit
// is exceeded.
bool fetch_answer_add_header(struct fetch_answer *a, struct str line);
bool fetch_answer_add_body(struct fetch_answer *a, struct str piece);

struct transfer_spec {                       // what it points to is borrowed until transfer_end()
	const struct fetch_options *options; // without user and password
	const char *url;
	const char *user, *password; // NULL: none
	bool no_netrc;               // no password from netrc
	bool no_private;             // fails at a private address
	bool is_raw;                 // asks for no compression
	const char *const *headers;
	int64_t total_ms;            // time limit; 0: none but the one for a stall
	struct fetch_answer *answer; // receives status and headers
	enum fetch_flow (*on_body)(void *ctx, struct str piece);
	void *ctx;
};

struct transfer_set *transfer_set_new(unsigned concurrency);
void transfer_set_free(struct transfer_set *s); // after transfer_end() of all its transfers
// Makes transfer_set_poll() return. Any thread.
void transfer_set_wake(struct transfer_set *s);
// Waits up to wait_ms for the network, then advances all transfers.
void transfer_set_poll(struct transfer_set *s, int wait_ms);
// Returns the ctx of the next transfer that has completed, or NULL. *why, which may be "", is valid until
// transfer_end().
void *transfer_set_next_completed(struct transfer_set *s, enum fetch_failure *failure, const char **why);

// Starts a transfer. NULL if libcurl refuses it.
struct transfer *transfer_begin(struct transfer_set *s, const struct transfer_spec *spec);
void transfer_end(struct transfer *t); // ends and frees it; NULL is fine

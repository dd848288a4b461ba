// SPDX-License-Identifier: Apache-2.0
// An HTTP client for one request at a time, with libcurl. It does not follow redirects.
// For many requests at once see lib/net/fetch-pool.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch-answer.h"

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

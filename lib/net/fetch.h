// SPDX-License-Identifier: Apache-2.0
// HTTP from the client's side, by libcurl: a request, and what was answered. Redirects are not
// followed: where they lead is for the caller to judge. Many requests at once: lib/net/fetch-pool.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch-answer.h"

struct fetch_options {
	const char *ca_file;         // certificates to trust (PEM); NULL: the system's
	const char *user, *password; // Basic; NULL: what netrc has for the host
	const char *netrc;           // a file that must be there; NULL: ~/.netrc, where it is there
	unsigned connect_seconds;    // until a connection stands
	unsigned stall_seconds;      // without a byte in either direction
	// Called now and then with what was sent of the request's body; false ends the request.
	// NULL: nobody is told.
	bool (*progress)(void *ctx, uint64_t sent);
	void *ctx;
};

// Keeps its connections from request to request. One thread at a time. What the options point to is
// borrowed.
struct fetch;

struct fetch *fetch_new(const struct fetch_options *options);
void fetch_free(struct fetch *f); // NULL is fine

// multipart/form-data (RFC 7578): the fields, then the file.
struct fetch_field {
	const char *name;
	const char *value; // text
};
struct fetch_form {
	const struct fetch_field *field;
	size_t count;
	const char *file_field, *file_name;
	int fd; // read from its start, by offset
	uint64_t size;
};

// Both answer 0 where there was an answer, whatever its status. Else ERR_NET: no connection, lost,
// or timed out; trying again may help. ERR_DENIED: TLS does not trust the other side. ERR_USAGE: a
// bad URL, or a file of certificates or netrc that cannot be read. A form is sent once at most. url
// is http: or https:. headers are lines "Name: value", NULL at the end.
int fetch_get(struct fetch *f, const char *url, const char *const *headers, struct fetch_answer *out,
	struct err *e) MUST_CHECK;
int fetch_post(struct fetch *f, const char *url, const char *const *headers, const struct fetch_form *form,
	struct fetch_answer *out, struct err *e) MUST_CHECK;

// A URL taken apart, as a request would take it. To be released.
struct fetch_url {
	char *text;                 // without user, password and fragment
	char *scheme, *host, *port; // in lower case; the port is there even where the text has none
	char *user, *password;      // NULL: none
};
// ERR_USAGE where it is none, or neither http: nor https:; the message does not show it.
int fetch_url_parse(const char *text, struct fetch_url *out, struct err *e) MUST_CHECK;
void fetch_url_release(struct fetch_url *u); // all NULL is fine
bool fetch_url_same_origin(const struct fetch_url *a, const struct fetch_url *b);

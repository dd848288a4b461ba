// SPDX-License-Identifier: Apache-2.0
// A certificate and its key, as libmicrohttpd wants them: read and checked before anything is served.
#pragma once

#include "lib/base/err.h"

struct tls {
	char *cert; // PEM: the server's certificate, then those that lead to its authority
	char *key;  // PEM
};

// TLS 1.2 and 1.3, in the words of GnuTLS.
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

// Both paths NULL: no TLS, all of *out is NULL. ERR_USAGE where one of them is missing, or the files are no
// certificate and its key.
int tls_load(const char *cert_path, const char *key_path, struct tls *out, struct err *e) MUST_CHECK;
void tls_release(struct tls *t);
// What listen_open() says is http://, and is not. ERR_USAGE for a socket file.
int tls_url(char **url, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server on 127.0.0.1 for tests of what asks one: a thread a connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct loopback;

// Called for each request, by its connection's thread; head is the request line and headers. False ends the connection.
typedef bool loopback_fn(void *ctx, int fd, const char *path, const char *head);

struct loopback *loopback_new(loopback_fn *fn, void *ctx);
void loopback_free(struct loopback *l); // when no fn waits for anything
unsigned loopback_port(const struct loopback *l);
// Status line, headers (lines with "\r\n", or ""), Content-Length and the body, which is text. False where nobody reads it any more.
bool loopback_send(int fd, const char *status, const char *headers, const char *body, size_t len);
bool loopback_write(int fd, const char *bytes, size_t len);

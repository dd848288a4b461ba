// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server on 127.0.0.1 for tests of HTTP clients, with one thread for each connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct loopback;

// Called for each request by its connection's thread. head is the request line and the headers. False closes the
// connection.
typedef bool loopback_fn(void *ctx, int fd, const char *path, const char *head);

struct loopback *loopback_new(loopback_fn *fn, void *ctx);
void loopback_free(struct loopback *l); // waits until each fn has returned
unsigned loopback_port(const struct loopback *l);
// Sends the status line, Content-Length, headers (lines with "\r\n", or "") and the body, which is text. Both return
// false if the client has closed the connection.
bool loopback_send(int fd, const char *status, const char *headers, const char *body, size_t len);
bool loopback_write(int fd, const char *bytes, size_t len);

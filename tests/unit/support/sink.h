// SPDX-License-Identifier: Apache-2.0
// Runs server/http/http on a socket, with body handlers that count the bytes and compute a checksum; and a client for
// it.
#pragma once

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/str.h"
#include "server/http/http.h"

enum {
	TIMEOUT = 2,    // seconds: the server's limit
	PATIENCE = 120, // seconds: the client's limit
	MEGABYTE = 1 << 20,
	CONNECTIONS = 1000,
};

struct fixture {
	struct http *http;
	struct answers *answers;
	struct sockaddr_in address;
	pthread_t loop; // the thread that called sink_receive last
	atomic_uint begun, ended, freed, fed_on_loop, at_gate;
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool is_open;
};

// The receive function of http_options; ctx is the fixture.
struct body_handler *sink_receive(void *ctx, struct request *r, struct reply **refusal);
// For cmocka: start and stop a server on a free port. sink_teardown fails if a body handler was not freed, or received
// bytes on the event loop.
int sink_setup(void **state);
int sink_teardown(void **state);
// Lets the requests for "/late/" end.
void open_gate(struct fixture *f);

// The client. Its functions wait up to PATIENCE, and then fail the test.
int dial(const struct fixture *f);
bool try_send(int fd, struct str s);
void send_text(int fd, const char *text);
// Reads until the text has arrived or the server closes the connection; with text NULL, until it closes. The result is
// valid until the next call in this thread.
const char *read_until(int fd, const char *text);
void assert_holds(const char *answer, const char *text);
void begin_post(int fd, const char *path, const char *headers);
void begin_sized(int fd, const char *path, size_t size, const char *more);
// Bytes that look random; borrowed until the next call.
struct str some_bytes(size_t len);
// The answer of a body handler that has received some_bytes(len); the caller frees it.
char *answer_to(size_t len);
// Waits until *value is wanted. False after PATIENCE.
bool comes_true(atomic_uint *value, unsigned wanted);
// Reads the answer and compares it with answer_to(len).
void assert_taken(int fd, size_t len);

// SPDX-License-Identifier: Apache-2.0
// server/http/http on a socket, with receivers that count and add up what they are fed; and a client of it.
#pragma once

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/str.h"
#include "server/http/http.h"

enum {
	TIMEOUT = 2,    // seconds, the server's
	PATIENCE = 120, // seconds, ours
	MEGABYTE = 1 << 20,
	CONNECTIONS = 1000,
};

struct fixture {
	struct http *http;
	struct sockaddr_in address;
	pthread_t loop; // who called receive last
	atomic_uint begun, ended, freed, fed_on_loop, at_gate;
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool is_open;
};

// As http_options wants it; ctx is the fixture.
struct body_handler *sink_receive(void *ctx, struct request *r, struct reply **refusal);
// For cmocka: a server on a free port. teardown fails where a receiver was not freed, or was fed on the event loop.
int sink_setup(void **state);
int sink_teardown(void **state);
// Those of "/late/" end.
void open_gate(struct fixture *f);
// A client. All wait for so long at most, and fail the test where something does not happen.
int dial(const struct fixture *f);
bool try_send(int fd, struct str s);
void send_text(int fd, const char *text);
// Reads until the text is there, or (always, where text is NULL) the other side closes: what came is valid until the next call
// of this thread.
const char *read_until(int fd, const char *text);
void assert_holds(const char *answer, const char *text);
void begin_post(int fd, const char *path, const char *headers);
void begin_sized(int fd, const char *path, size_t size, const char *more);
// Bytes that differ at each place.
struct str some_bytes(size_t len);
// What a receiver answers that was fed some_bytes(len); to be freed by the caller.
char *answer_to(size_t len);
// Waits for the value.
bool comes_true(atomic_uint *value, unsigned wanted);
void assert_taken(int fd, size_t len);

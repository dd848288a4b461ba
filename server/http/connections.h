// SPDX-License-Identifier: Apache-2.0
// The table of open connections, with a timer thread that ends those whose request does not arrive in time, and works
// around two cases in which libmicrohttpd misses an event.
//
// libmicrohttpd's own time-out starts again with each byte, so a client that sends one byte a second keeps its
// connection forever. Here a complete request header, or LIMIT_BODY_PROGRESS bytes of a body, must arrive within the
// time-out.
//
// A link is its connection's: its event loop and the worker that has the request call the functions with a link, one at
// a time. Any thread may call connections_note_resumed(); one thread calls new, drain, await_resumed and free.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "server/message/share.h"

struct connections;

// The part of a connection that the table needs, embedded in struct connection.
struct connection_link {
	struct connection_link *next, *prev; // in the table
	int fd;                              // open until connections_remove()
	atomic_long waiting_since; // clock_seconds() since when the server waits for the client; 0: it does not
	atomic_long idle_since;    // the same, also while the client reads an answer
	struct share_part place;   // among all connections
	uint64_t moved;            // by its client, while the server stops, up to moved_at,
	int64_t moved_at;          // by clock_ms(); 0: not looked at yet
	atomic_bool is_busy;       // a request is under way
	atomic_bool has_left;      // the client closed the connection during a request
};

// The timer thread calls checked about once a second, after it has updated has_left of all connections, so that modules
// resume the continuations of clients that have left. NULL is fine.
// most: where more are open, the one that was idle for the longest time is ended, of an address that has more than a
// quarter.
struct connections *connections_new(unsigned timeout_seconds, unsigned most, void (*checked)(void *ctx), void *ctx);
void connections_free(struct connections *t); // all connections must have been removed; NULL is fine
// peer: the address of the other end; NULL: a proxy, whose connections are those of many clients.
void connections_add(struct connections *t, struct connection_link *link, int fd, const char *peer);
void connections_remove(struct connections *t, struct connection_link *link);
// A request header has arrived. The server does not wait for the client.
void connections_begin_request(struct connection_link *link);
// The server waits for bytes of the body; the time-out starts now.
void connections_await_bytes(struct connection_link *link);
// The client reads an answer, at its own pace.
void connections_note_sending(struct connection_link *link);
// Ends the connection of a link, which has it still open. For share_options.end.
void connections_end(void *link);
// The server waits no longer for the client.
void connections_end_wait(struct connection_link *link);
// The answer has been sent. The server waits for the next request.
void connections_end_request(struct connections *t, struct connection_link *link);
// Called before a connection is suspended. The daemon of libmicrohttpd runs on until connections_note_resumed(). False:
// the server is stopping, and the caller must not suspend the connection.
bool connections_suspend(struct connections *t, struct connection_link *link);
void connections_note_resumed(struct connections *t);
// Ends connections that have been idle for at least linger seconds, the others after their answer, and those whose
// client hardly reads it or hardly sends its request. Returns when no request is under way and none is awaited, or
// after the given number of seconds.
void connections_drain(struct connections *t, unsigned seconds, unsigned linger);
// Whether connections_drain() was called: a client should make its next request on another connection.
bool connections_is_draining(const struct connections *t);
// From now on connections_suspend() returns false. Returns when all suspended requests have been resumed.
void connections_await_resumed(struct connections *t);

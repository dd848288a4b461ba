// SPDX-License-Identifier: Apache-2.0
// The open connections, and the thread that looks after them: it ends those whose request header does not
// come, and wakes those that send.
//
// libmicrohttpd's own time-out begins again with each byte: a client that sends one a second would keep its
// connection for ever. Here a whole request header has to come within the time-out, and of a body a part of some size.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct connections;

// The part of a connection that the table needs; the owner of the connection embeds it.
struct connection_link {
	struct connection_link *next, *prev; // of the table
	int fd;                              // open until connections_remove()
	atomic_long waiting_since; // for the client's bytes: a second of the monotonic clock; 0: it is our turn
	atomic_bool is_busy;       // with a request
	atomic_bool has_left;      // the client closed the connection while it was our turn
};

// checked: called about once a second by the table's thread, when it is noted which clients have left: who keeps waiters
// of theirs lets go of them. NULL is fine.
struct connections *connections_new(unsigned timeout_seconds, void (*checked)(void *ctx), void *ctx);
void connections_free(struct connections *t); // the connections must have been removed; NULL is fine
void connections_add(struct connections *t, struct connection_link *link, int fd);
void connections_remove(struct connections *t, struct connection_link *link);
// A request header is there; part of its body is awaited, from now on; it is our turn; its answer has been sent.
void connections_begin_request(struct connection_link *link);
void connections_await_bytes(struct connection_link *link);
void connections_end_wait(struct connection_link *link);
void connections_end_request(struct connections *t, struct connection_link *link);
// A worker gets the request: it is our turn, and the library must not be stopped before connections_note_resumed(). False where the
// server is stopping, and no worker may have it.
bool connections_suspend(struct connections *t, struct connection_link *link);
void connections_note_resumed(struct connections *t);
// Ends the connections that wait, and each other one after its answer; returns when none is busy, or after so many
// seconds.
void connections_drain(struct connections *t, unsigned seconds);
// From now on none falls asleep; returns when all that sleep have woken.
void connections_await_resumed(struct connections *t);

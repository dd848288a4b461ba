// SPDX-License-Identifier: Apache-2.0
// The open connections, and the thread that looks after them: it ends those whose request header does not
// come, and wakes those that send.
//
// libmicrohttpd's own time-out begins again with each byte: a client that sends one a second would keep its
// connection for ever. Here a whole request header has to come within the time-out, and of a body a part of some size.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct clients;

// The part of a connection that the table needs; the owner of the connection embeds it.
struct client_link {
	struct client_link *next, *prev; // of the table
	int fd;                          // open until clients_remove()
	atomic_long waiting_since;       // for the client's bytes: a second of the monotonic clock; 0: it is our turn
	atomic_bool is_busy;             // with a request
	atomic_bool has_left;            // the client closed the connection while it was our turn
};

// looked: called about once a second by the table's thread, when it is noted which clients have left: who keeps waiters
// of theirs lets go of them. NULL is fine.
struct clients *clients_new(unsigned timeout_seconds, void (*looked)(void *ctx), void *ctx);
void clients_free(struct clients *t); // the connections must have been removed; NULL is fine
void clients_add(struct clients *t, struct client_link *link, int fd);
void clients_remove(struct clients *t, struct client_link *link);
// A request header is there; part of its body is awaited, from now on; it is our turn; its answer has been sent.
void clients_begin(struct client_link *link);
void clients_await(struct client_link *link);
void clients_work(struct client_link *link);
void clients_end(struct clients *t, struct client_link *link);
// A worker gets the request: it is our turn, and the library must not be stopped before clients_wake(). False where the
// server is stopping, and no worker may have it.
bool clients_sleep(struct clients *t, struct client_link *link);
void clients_wake(struct clients *t);
// Ends the connections that wait, and each other one after its answer; returns when none is busy, or after so many
// seconds.
void clients_drain(struct clients *t, unsigned seconds);
// From now on none falls asleep; returns when all that sleep have woken.
void clients_rouse(struct clients *t);

// SPDX-License-Identifier: Apache-2.0
// Opens listening sockets from the text of an address. Any thread may call all functions.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/base/err.h"
#include "server/message/request.h"

// Binds a socket to ADDR:PORT, [V6]:PORT (port 0: any free one) or unix:PATH. Replaces the socket file of a server that
// died; every account that may enter its folder may connect. The kernel refuses connections until listen_begin(). *url
// gets "http://ADDR:PORT/", with the port that was found, or "unix:PATH"; the caller frees it. Returns the descriptor,
// which the caller closes, or -1: ERR_USAGE where the text is no address, ERR_NET otherwise.
int listen_open(const char *text, char **url, struct err *e) MUST_CHECK;
// Accepts connections from now on. ERR_NET.
int listen_begin(int socket, const char *url, struct err *e) MUST_CHECK;
// Removes the socket file of the URL, if it is one. Called when the server has stopped.
void listen_end(const char *url);
// The address of the client as text; "unix" for a socket file or NULL.
void listen_peer(const struct sockaddr *addr, char out[REQUEST_PEER]);
// Raises the process's limit of open files to its maximum. Returns how many of the wanted connections it allows.
unsigned listen_limit(unsigned wanted);

// The listening socket that another process made and passed to this one at its start, by the protocol of
// sd_listen_fds(3): a .socket unit of systemd, or any supervisor. It stays open in that process, so clients that
// connect while no server runs wait in it. One thread calls the function, before others start: it changes the
// environment.

// *socket gets the descriptor, which the caller closes, or -1 where none was passed; *url gets its address as of
// listen_open(), which the caller frees. Child processes get neither the socket nor the variables. ERR_USAGE: more than
// one socket was passed, or it does not listen for streams.
int passed_socket_take(int *socket, char **url, struct err *e) MUST_CHECK;

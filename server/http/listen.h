// SPDX-License-Identifier: Apache-2.0
// Listening sockets, from the text of an address.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "lib/base/err.h"

// The text of any address below.
enum { LISTEN_PEER = INET6_ADDRSTRLEN };

// Opens a socket at ADDR:PORT, [V6]:PORT (port 0: any free one) or unix:PATH (a socket that nobody answers at any more
// is replaced; who may enter its folder may connect). Connections are refused until listen_begin(). *url gets
// "http://ADDR:PORT/", with the port that was found, or "unix:PATH"; to be freed by the caller. Returns the descriptor,
// or -1: ERR_USAGE where the text is no address, ERR_NET otherwise.
int listen_open(const char *text, char **url, struct err *e) MUST_CHECK;
int listen_begin(int socket, const char *url, struct err *e) MUST_CHECK;
// Where nobody serves at the URL any more: a socket file goes.
void listen_end(const char *url);
// Who is at the other end: his address, or "unix". NULL is fine.
void listen_peer(const struct sockaddr *addr, char out[LISTEN_PEER]);
// Raises the limit of open files as far as it goes, and says for how many of the wanted connections, which take so many
// files each, it leaves room.
unsigned listen_limit(unsigned wanted, unsigned files);

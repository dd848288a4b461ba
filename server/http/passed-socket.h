// SPDX-License-Identifier: Apache-2.0
// The listening socket that another process made and passed to this one at its start, by the protocol of
// sd_listen_fds(3): a .socket unit of systemd, or any supervisor. It stays open in that process, so clients that connect
// while no server runs wait in it. One thread calls the function, before others start: it changes the environment.
#pragma once

#include "lib/base/err.h"

// *socket gets the descriptor, which the caller closes, or -1 where none was passed; *url gets its address as of
// listen_open(), which the caller frees. Child processes get neither the socket nor the variables. ERR_USAGE: more than
// one socket was passed, or it does not listen for streams.
int passed_socket_take(int *socket, char **url, struct err *e) MUST_CHECK;

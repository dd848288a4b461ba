// SPDX-License-Identifier: Apache-2.0
// Workarounds for bugs of libmicrohttpd. Any thread.
//
// Where epoll returns as many events as libmicrohttpd has room for, it calls epoll_wait() again before it handles them,
// and lets it block (1.0.1 as well). If each of these clients waits for its answer, no event comes, and all connections
// of the thread stall until one times out. So this module defines an epoll_wait() that replaces the C library's and
// never fills the room. It applies to the whole program: no caller may rely on getting all events at once.
#pragma once

#include <stdbool.h>

// Whether this version of libmicrohttpd parses request headers laxly. 0.9 cuts a line at a NUL, and joins a line that
// begins with a blank to the name before it; its strings are in the buffer that the client filled, so gaps between them
// show that. 1.0 refuses such headers itself, and moves strings.
bool mhd_workarounds_is_lax(const char *version);

// libmicrohttpd gives an added descriptor to the loop number fd modulo loops. Where each connection takes two or three
// descriptors, many loops get no connection. Returns a duplicate of fd that belongs to the given loop, and closes fd;
// if no descriptor is free, returns fd.
int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops);

// SPDX-License-Identifier: Apache-2.0
// What libmicrohttpd does wrong, and what is done about it without its knowledge.
//
// Where as many events come as it has room for, it asks for more before it handles them, and is willing to wait (1.0.1
// as well); if each client waits for its answer, nothing comes, and all stand still until a connection times out. So an
// epoll_wait() of ours, in place of the C library's, never fills that room. It is the whole program's: a caller must be
// content with fewer events than there are, whatever it asks for.
#pragma once

#include <stdbool.h>

// Whether this version of it takes request headers laxly: 0.9 cuts a line at a NUL, and glues one that begins with a
// blank to the name before it. But it hands out its buffer as the client filled it, so that a gap tells. Version 1.0
// refuses all this itself, and moves things.
bool mhd_workarounds_is_lax(const char *version);

// A descriptor that it is given it hands to the loop that the number of the descriptor says, modulo the number of loops.
// Where each connection takes two or three of them, many loops get nothing. Returns the same open file under a number that
// belongs to the loop that is wanted, as far as one is free; the old one is closed.
int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops);

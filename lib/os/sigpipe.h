// SPDX-License-Identifier: Apache-2.0
// Blocks SIGPIPE in the calling thread while a library writes to sockets: OpenSSL uses write(2), and libcurl leaves the
// signal to its caller (CURLOPT_NOSIGNAL). Any thread; hold and release in the same one. Nothing here fails.
#pragma once

#include <signal.h>
#include <stdbool.h>

struct sigpipe {
	sigset_t before;
	bool was_pending;
};

void sigpipe_hold(struct sigpipe *s);
// Discards a SIGPIPE that came meanwhile and restores the signal mask. For CLEANUP.
void sigpipe_release(struct sigpipe *s);

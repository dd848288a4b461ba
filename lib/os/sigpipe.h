// SPDX-License-Identifier: Apache-2.0
// Keeps SIGPIPE from a thread while a library writes to sockets in it: OpenSSL does so by write(2), and libcurl leaves the
// signal to us (CURLOPT_NOSIGNAL).
#pragma once

#include <signal.h>
#include <stdbool.h>

struct sigpipe {
	sigset_t before;
	bool was_pending;
};

void sigpipe_hold(struct sigpipe *s);
void sigpipe_release(struct sigpipe *s); // for CLEANUP; what came meanwhile is forgotten

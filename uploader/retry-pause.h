// SPDX-License-Identifier: Apache-2.0
// How long a client waits before it tries again. Pure; any thread.
#pragma once

#include <stdint.h>

enum {
	RETRY_PAUSE_FIRST_MS = 250,     // before the second try; twice as long before each further one
	RETRY_PAUSE_LONGEST_MS = 16000, // upper limit of these
	RETRY_PAUSE_ASKED_MS = 600000,  // of Retry-After: the client does not wait longer
};

// Milliseconds before the next try, after the failed try number `try`, from 0. retry_after: seconds that the server asked
// for; 0: none. -1: it asks for too long a pause.
int64_t retry_pause(unsigned try, uint64_t retry_after);

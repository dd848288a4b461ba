// SPDX-License-Identifier: Apache-2.0
// Sends attempts to the server that is fed, POST /-/builds/PLATFORM/: each once it has ended, and those that could not
// be sent before. Nothing here fails: what is not sent stays in the file of results, for the next run. One thread at a
// time.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "lib/state/results/results.h"

struct result_sender;

// base: the server's URL with "/" at its end. Borrows results, and what options point to. The caller closes it.
struct result_sender *result_sender_new(const char *base, const char *platform, const struct fetch_options *options,
	struct results *results);
void result_sender_free(struct result_sender *s);     // NULL is fine
void result_sender_cleanup(struct result_sender **s); // for CLEANUP

// Asks whether the server takes results with this token, before hours are spent on builds: ERR_DENIED if not. Another
// failure, as of a server without results, is none here.
int result_sender_probe(struct result_sender *s, struct err *e) MUST_CHECK;
// Sends one attempt, which is in the results, with its log, and marks it there. A server that does not take it, or does
// not answer, is logged once.
void result_sender_send(struct result_sender *s, const char *id);
// Sends all that were not sent. Returns the number of those that are left.
size_t result_sender_flush(struct result_sender *s);

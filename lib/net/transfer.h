// SPDX-License-Identifier: Apache-2.0
// Requests beside each other: what fetch.c, which alone knows libcurl, offers to fetch-pool.c and to nobody else. All of
// it in one thread, but for transfer_set_wake().
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/net/fetch-failure.h"

struct fetch_answer;
struct fetch_options;
struct transfer;
struct transfer_set;

struct transfer_spec {                       // borrowed until transfer_end()
	const struct fetch_options *options; // but for user and password
	const char *url;
	const char *user, *password; // NULL: none
	bool is_foreign;             // not the operator's choice: no netrc, and
	bool no_private;             // no private address
	bool is_raw;                 // without asking for compression
	const char *const *headers;
	int64_t total_ms;            // 0: as long as bytes come
	struct fetch_answer *answer; // gets status and headers
	enum fetch_flow (*on_body)(void *ctx, struct str piece);
	void *ctx;
};

struct transfer_set *transfer_set_new(unsigned concurrency);
void transfer_set_free(struct transfer_set *s); // when all of it were ended
// Any thread: has transfer_set_poll() return.
void transfer_set_wake(struct transfer_set *s);
// Goes on with all, and waits up to wait_ms for something to happen.
void transfer_set_poll(struct transfer_set *s, int wait_ms);
// One that has come to its end: its ctx; NULL: none. *why lives until transfer_end(); it may be "".
void *transfer_set_ended(struct transfer_set *s, enum fetch_failure *failure, const char **why);

// NULL where libcurl does not take it.
struct transfer *transfer_begin(struct transfer_set *s, const struct transfer_spec *spec);
void transfer_end(struct transfer *t); // NULL is fine

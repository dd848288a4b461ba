// SPDX-License-Identifier: Apache-2.0
// Concurrent requests: the interface of fetch.c, the only file that uses libcurl, for fetch-pool.c, its only user.
// All calls come from one thread at a time, except transfer_set_wake().
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/net/fetch-failure.h"

struct fetch_answer;
struct fetch_options;
struct transfer;
struct transfer_set;

struct transfer_spec {                       // what it points to is borrowed until transfer_end()
	const struct fetch_options *options; // without user and password
	const char *url;
	const char *user, *password; // NULL: none
	bool no_netrc;               // no password from netrc
	bool no_private;             // fails at a private address
	bool is_raw;                 // asks for no compression
	const char *const *headers;
	int64_t total_ms;            // time limit; 0: none but the one for a stall
	struct fetch_answer *answer; // receives status and headers
	enum fetch_flow (*on_body)(void *ctx, struct str piece);
	void *ctx;
};

struct transfer_set *transfer_set_new(unsigned concurrency);
void transfer_set_free(struct transfer_set *s); // after transfer_end() of all its transfers
// Makes transfer_set_poll() return. Any thread.
void transfer_set_wake(struct transfer_set *s);
// Waits up to wait_ms for the network, then advances all transfers.
void transfer_set_poll(struct transfer_set *s, int wait_ms);
// Returns the ctx of the next transfer that has completed, or NULL. *why, which may be "", is valid until
// transfer_end().
void *transfer_set_next_completed(struct transfer_set *s, enum fetch_failure *failure, const char **why);

// Starts a transfer. NULL if libcurl refuses it.
struct transfer *transfer_begin(struct transfer_set *s, const struct transfer_spec *spec);
void transfer_end(struct transfer *t); // ends and frees it; NULL is fine

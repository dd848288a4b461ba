// SPDX-License-Identifier: Apache-2.0
// How an HTTP request can end, and what a callback can answer. This header includes nothing: fetch.c and its users
// share it.
#pragma once

enum fetch_failure {
	FETCH_WHOLE,   // a complete response, with any status
	FETCH_REFUSED, // no connection, or it was lost before the headers
	FETCH_RESOLVE, // the host has no address
	FETCH_TIMEOUT,
	FETCH_TLS,       // no TLS, or an untrusted certificate
	FETCH_TRUNCATED, // the connection was lost in the headers or the body
	FETCH_TOO_LARGE, // headers or a body beyond the limit
	FETCH_REDIRECT,  // a redirect that is not followed: its target is not allowed, or there are too many
	FETCH_FORBIDDEN, // a private address that is not allowed
	FETCH_CANCELLED,
	FETCH_OTHER,
	FETCH_FAILURE_COUNT,
};
extern const char *const fetch_failure_name[FETCH_FAILURE_COUNT]; // "refused", "timeout", …

enum fetch_flow {
	FETCH_GO_ON,
	FETCH_STOP, // end the request: on_done follows with FETCH_CANCELLED
};

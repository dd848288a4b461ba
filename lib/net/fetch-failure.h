// SPDX-License-Identifier: Apache-2.0
// How a request over HTTP may end, and how its body may go on. Without includes: fetch.c and what stands on it share it.
#pragma once

enum fetch_failure {
	FETCH_WHOLE,   // there is a whole answer, whatever its status
	FETCH_REFUSED, // no connection, or it was lost before the headers
	FETCH_RESOLVE, // no address of the host
	FETCH_TIMEOUT,
	FETCH_TLS,       // no TLS, or a certificate that is not trusted
	FETCH_TRUNCATED, // cut short in the headers or the body
	FETCH_TOO_LARGE, // headers or a body beyond the limit
	FETCH_REDIRECT,  // one that is not followed: where it leads, or too many
	FETCH_FORBIDDEN, // a private address, where that is not allowed
	FETCH_CANCELLED,
	FETCH_OTHER,
	FETCH_FAILURE_COUNT,
};
extern const char *const fetch_failure_name[FETCH_FAILURE_COUNT]; // "refused", "timeout", …

enum fetch_flow {
	FETCH_GO_ON,
	FETCH_STOP, // on_done is next, with FETCH_CANCELLED
};

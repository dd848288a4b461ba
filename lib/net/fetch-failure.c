// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch-failure.h"

const char *const fetch_failure_name[FETCH_FAILURE_COUNT] = {
	[FETCH_WHOLE] = "whole",
	[FETCH_REFUSED] = "refused",
	[FETCH_RESOLVE] = "no address",
	[FETCH_TIMEOUT] = "timeout",
	[FETCH_TLS] = "TLS",
	[FETCH_TRUNCATED] = "truncated",
	[FETCH_TOO_LARGE] = "too large",
	[FETCH_REDIRECT] = "redirect",
	[FETCH_FORBIDDEN] = "private address",
	[FETCH_CANCELLED] = "cancelled",
	[FETCH_OTHER] = "other",
};

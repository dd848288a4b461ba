// SPDX-License-Identifier: Apache-2.0
// What a wheelcache server answers to the builder: 2xx, or an error with the server's reason. Pure; any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/net/fetch-answer.h"

// 0 for 2xx. Otherwise the error has the URL, the status and the server's reason: ERR_USAGE for 400, ERR_DENIED for 401
// and 403, ERR_NOT_FOUND for 404 and 405, ERR_NET for 408, 429 and 5xx (another try may succeed), ERR_INVALID for the
// others.
int server_answer_check(const struct fetch_answer *a, const char *url, struct err *e) MUST_CHECK;
// Copies a base URL, which gets "/" at its end; the caller frees it. NULL with ERR_USAGE if it is none, or has a user
// name, which all users of the machine could read. option: for the message.
char *server_answer_base(const char *url, const char *option, struct err *e) MUST_CHECK;

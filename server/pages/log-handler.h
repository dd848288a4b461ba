// SPDX-License-Identifier: Apache-2.0
// /-/log/: who did what to which file, from the end of the audit log: a page for people, JSON and text. A token is needed,
// and gets the entries about the platforms and projects that it may read. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *log_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);

// SPDX-License-Identifier: Apache-2.0
// /-/compare/: what differs between two wheels of the store (auditor/compare/wheel-compare.h), as a page and as JSON. What is
// inside them is known from the catalog alone; of the files the lists of members are read, and a small wheel is unpacked.
// A worker thread.
#pragma once

#include "server/core/server-context.h"

// A handle_worker_fn. The client must be allowed to read both platforms.
struct reply *compare_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);

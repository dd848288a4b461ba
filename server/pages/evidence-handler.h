// SPDX-License-Identifier: Apache-2.0
// GET /-/evidence/ID: the record of a test run, with what the index noted when it came. A client that may not read all
// platforms gets only records of a cell and of wheels that it may know of, and not the views for which they count. The
// function fits route-table.h.
#pragma once

#include "server/core/server-context.h"

struct reply *evidence_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);

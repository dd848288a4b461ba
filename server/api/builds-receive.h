// SPDX-License-Identifier: Apache-2.0
// /-/builds/PLATFORM/: a builder sends one attempt to build a wheel, as JSON (lib/state/results/results-json.h). It
// needs the right to upload to the platform and the project. The functions fit route-table.h.
#pragma once

#include "server/core/server-context.h"

struct body_handler *builds_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);

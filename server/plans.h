// SPDX-License-Identifier: Apache-2.0
// /-/plan/: the last plan of a prune, for people. The page itself is made in server/webplan.
#pragma once

#include "server/service.h"

struct reply *plans_work(struct service *s, struct catalog *c, const struct call *call);

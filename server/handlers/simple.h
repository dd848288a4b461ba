// SPDX-License-Identifier: Apache-2.0
// The simple API: the list of projects and a page a project, in the form and coding that the client likes best.
#pragma once

#include "server/core/server-context.h"

struct reply *simple_root_quick(struct service *s, const struct call *call);
struct reply *simple_root_work(struct service *s, struct catalog *c, const struct call *call);
struct reply *simple_project_quick(struct service *s, const struct call *call);
struct reply *simple_project_work(struct service *s, struct catalog *c, const struct call *call);

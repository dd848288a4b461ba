// SPDX-License-Identifier: Apache-2.0
// The simple API: the list of projects and a page a project, in the form and coding that the client likes best.
#pragma once

#include "server/service.h"

struct reply *simple_root_quick(struct service *s, const struct call *call);
struct reply *simple_root_work(struct service *s, struct catalog *c, const struct call *call);
struct reply *simple_project_quick(struct service *s, const struct call *call);
struct reply *simple_project_work(struct service *s, struct catalog *c, const struct call *call);
// The pages of a project, or of the list, are out of date: drops them in every view, form and coding.
void simple_drop_project(struct service *s, const char *project);
void simple_drop_roots(struct service *s);

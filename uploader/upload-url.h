// SPDX-License-Identifier: Apache-2.0
// Where files are pushed to: one platform of one server, by its upload URL. Pure.
#pragma once

#include "lib/base/err.h"

struct target {
	char *upload;   // https://host/upload/<platform>/
	char *simple;   // https://host/<platform>/simple/
	char *platform; // <platform>
};

// url is http(s)://HOST/…/upload/<platform>/; its last slash may be missing. ERR_USAGE where it is
// none, or holds a password: what is on a command line, everybody sees. To be released.
int target_init(struct target *t, const char *url, struct err *e) MUST_CHECK;
void target_release(struct target *t);
// The page of a project (normalised). To be freed by the caller.
char *target_page(const struct target *t, const char *project);

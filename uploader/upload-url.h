// SPDX-License-Identifier: Apache-2.0
// Where files are pushed to: one platform of one server, by its upload URL. Pure.
#pragma once

#include "lib/base/err.h"

struct upload_url {
	char *upload;   // https://host/upload/<platform>/
	char *simple;   // https://host/<platform>/simple/
	char *platform; // <platform>
};

// url is http(s)://HOST/…/upload/<platform>/; its last slash may be missing. ERR_USAGE where it is
// none, or holds a password: what is on a command line, everybody sees. To be released.
int upload_url_init(struct upload_url *t, const char *url, struct err *e) MUST_CHECK;
void upload_url_release(struct upload_url *t);
// The page of a project (normalised). To be freed by the caller.
char *upload_url_page(const struct upload_url *t, const char *project);

// SPDX-License-Identifier: Apache-2.0
// The upload URL: one platform of one server. Pure; one thread at a time.
#pragma once

#include "lib/base/err.h"

struct upload_url {
	char *upload;   // https://host/upload/<platform>/
	char *simple;   // https://host/<platform>/simple/
	char *platform; // <platform>
};

// url is http(s)://HOST/…/upload/<platform>/; the last slash may be missing. ERR_USAGE if it is another URL, or has a
// user name or password: every user of the machine sees command lines. The caller releases u if it returns 0.
int upload_url_init(struct upload_url *u, const char *url, struct err *e) MUST_CHECK;
void upload_url_release(struct upload_url *u);
// The URL of the page of a project (normalised). The caller frees it.
char *upload_url_page(const struct upload_url *u, const char *project);
// The URL of a route, "-/evidence/", of a server whose base URL is url; url may be the route's own. The caller frees it.
// ERR_USAGE names the option: it is neither, or has a user name or password.
char *upload_url_route(const char *url, const char *option, const char *route, struct err *e) MUST_CHECK;

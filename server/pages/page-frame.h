// SPDX-License-Identifier: Apache-2.0
// The frame (html-layout.h) of the page that answers a request: where "/" is from there, and which sections this server
// has for everybody. Any thread.
#pragma once

#include "server/core/readable.h"
#include "server/core/server-context.h"
#include "server/pages/html-layout.h"

// path: of the request, or another one with as many slashes. The frame depends on nothing else of the request, so a page
// with it may be kept for other clients. c: one thread at a time.
struct html_frame page_frame(struct server_context *s, struct catalog *c, const char *path, enum html_section here);
// The same with the sections that a client has, for a page that no other gets.
struct html_frame page_frame_for(struct server_context *s, struct catalog *c, const char *path, enum html_section here,
	const struct readable *readable);

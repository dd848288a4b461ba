// SPDX-License-Identifier: Apache-2.0
// The access log: one line per request in the combined log format of nginx and Apache.
//
// accesslog_write() may be called by any thread. A line is its owner's: one thread at a time.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

struct accesslog_entry {
	const char *peer;   // address; "unix" for a socket file
	const char *method; // this and the next three as sent; NULL: not sent
	const char *uri;
	const char *version;
	const char *user_agent;
	unsigned status;
	uint64_t bytes; // of the body
};

// Copies of what libmicrohttpd frees before the line is written.
struct accesslog_line {
	char method[16];
	char version[16];
	struct buf uri;
};

void accesslog_line_init(struct accesslog_line *line);
void accesslog_line_release(struct accesslog_line *line);
void accesslog_note(struct accesslog_line *line, const char *method, const char *version);
void accesslog_note_uri(struct accesslog_line *line, const char *uri);

// Writes one line. Bytes that could forge a line or a field are written as \xHH.
void accesslog_write(FILE *out, const struct accesslog_entry *entry);

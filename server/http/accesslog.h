// SPDX-License-Identifier: Apache-2.0
// The access log: a line a request in the combined log format, as nginx and Apache write it.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

struct accesslog_entry {
	const char *peer;   // address, "unix" for a socket file
	const char *method; // all of these as they were sent; NULL where not
	const char *uri;
	const char *version;
	const char *user_agent;
	unsigned status;
	uint64_t bytes; // of the body
};

// What is noted of a request while it is under way: its strings do not last.
struct accesslog_line {
	char method[16];
	char version[16];
	struct buf uri;
};

void accesslog_line_init(struct accesslog_line *line);
void accesslog_line_release(struct accesslog_line *line);
void accesslog_note(struct accesslog_line *line, const char *method, const char *version);
void accesslog_note_uri(struct accesslog_line *line, const char *uri);

// Writes one whole line; bytes that could forge a line or a field are written as \xHH. Thread-safe.
void accesslog_write(FILE *out, const struct accesslog_entry *entry);

// SPDX-License-Identifier: Apache-2.0
// How many files and bytes the store lists, by platform, project, version or age, and when they were last downloaded.
// One thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/access/downloads.h"
#include "lib/state/catalog/catalog.h"

enum usage_by { USAGE_PLATFORM, USAGE_PROJECT, USAGE_VERSION, USAGE_AGE, USAGE_BY_COUNT };
extern const char *const usage_by_name[USAGE_BY_COUNT];

// The files of one platform, project or version, or those that came in one span of time.
struct usage_row {
	const char *name;    // of the platform or project, or the span: "less than 7 days"
	const char *version; // "" but for USAGE_VERSION
	uint64_t files, bytes;
	int64_t newest;     // when the newest of them came, seconds since 1970
	int64_t downloaded; // the day of the last download, seconds since 1970; 0: none is known
};

struct usage {
	struct usage_row *row; // the largest first; spans of time: the newest first
	size_t rows, room;
	struct usage_row total;
	struct arena text;
};

// downloads: NULL: none are known. platform: only these (ids); platforms 0: none. now: seconds since 1970. The caller
// releases *out in any case. Errors of catalog.h.
struct usage_query {
	enum usage_by by;
	const struct downloads *downloads;
	const struct usage_platform {
		int64_t id;
		const char *name;
	} *platform;
	size_t platforms;
	int64_t now;
};
int usage_read(struct catalog *c, const struct usage_query *q, struct usage *out, struct err *e) MUST_CHECK;
void usage_release(struct usage *u); // for CLEANUP

// As a table for people, for a terminal; as CSV, with a head; as JSON.
void usage_write_table(const struct usage *u, enum usage_by by, struct buf *out);
void usage_write_csv(const struct usage *u, enum usage_by by, struct buf *out);
void usage_write_json(const struct usage *u, enum usage_by by, struct buf *out);

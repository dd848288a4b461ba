// SPDX-License-Identifier: Apache-2.0
// How many files and bytes the store lists, by platform, project, version or age, and when they were last downloaded.
// One thread.
#pragma once

#include "lib/base/arena.h"
#include "lib/os/clock.h"
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
	struct usage_row total;  // of all rows, also of those that usage_cut() took
	size_t cut;              // number of these
	struct arena text;
};

// downloads: NULL: none are known. platform: only these (ids); platforms 0: none. project: only this one, in normal
// form; NULL: all. may_read: whether files of the project on the platform with this number count; NULL: all do. now:
// seconds since 1970. The caller releases *out in any case. Errors of catalog.h.
struct usage_query {
	enum usage_by by;
	const struct downloads *downloads;
	const struct usage_platform {
		int64_t id;
		const char *name;
	} *platform;
	size_t platforms;
	const char *project;
	bool (*may_read)(void *ctx, int64_t platform, const char *project);
	void *ctx;
	int64_t now;
};
int usage_read(struct catalog *c, const struct usage_query *q, struct usage *out, struct err *e) MUST_CHECK;
void usage_release(struct usage *u); // for CLEANUP
void usage_cut(struct usage *u, size_t most); // takes the rows after the first ones
// 0: *out is that of the name; NULL is the first one.
int usage_by_read(const char *name, enum usage_by *out);
// The day, or "-" for 0.
void usage_write_date(int64_t when, char out[CLOCK_TEXT]);

// As a table for people, for a terminal; as CSV, with a head; as JSON.
void usage_write_table(const struct usage *u, enum usage_by by, struct buf *out);
void usage_write_csv(const struct usage *u, enum usage_by by, struct buf *out);
void usage_write_json(const struct usage *u, enum usage_by by, struct buf *out);

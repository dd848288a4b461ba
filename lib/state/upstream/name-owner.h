// SPDX-License-Identifier: Apache-2.0
// The owner of a project's name: who had it first. A name that upstream does not know when our first file arrives is
// ours (lib/state/upstream/owned-names.h remembers it). If upstream is asked later, the oldest upload time of its page
// tells whether it had the project at that time. In doubt the owner is UNDECIDED, and upstream's files are not merged.
// Pure, except for the functions that take a catalog, which is one thread's at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog.h"

struct simplepage;
struct upstream;
struct upstream_answer;
struct upstreams;

enum {
	NAME_OWNER_AT_ONCE_S =
		60, // of a page without upload times it counts that it was there so long before it was asked for
	NAME_OWNER_NO_WHEELS_S =
		1325376000, // 2012: what has an older modification time lost its own, in an image or an archive
};

// Which platforms have listed files of a project.
struct name_presence {
	bool is_here;    // any
	bool is_open;    // one that is not hidden: the upstream may be asked for its projects
	int64_t arrived; // when the first file of an open one arrived, in seconds since 1970; 0: unknown
};

// Fills count of out, one for each upstream, whose hidden platforms are sorted names (config_hidden_platforms). Errors
// of catalog.h.
int name_owner_look(struct catalog *c, const struct strset *hidden, size_t count, const char *project,
	struct name_presence *out, struct err *e) MUST_CHECK;
// Whether only hidden platforms have the project, so that upstream must not learn its name.
bool name_owner_is_hidden(const struct name_presence *p);

enum name_owner {
	NAME_OWNER_BOTH,      // what upstream has is the same project
	NAME_OWNER_OURS,      // upstream did not know it when our first file arrived
	NAME_OWNER_UNDECIDED, // upstream has not answered since, or its answer does not tell
};
enum name_owner name_owner_judge(const struct name_presence *p, const struct upstream_answer *a);

// The oldest upload time of its files, in seconds since 1970; 0: unknown, or page is NULL.
int64_t name_owner_oldest_upload(const struct simplepage *page);
// Whether all of upstream's files are younger than our oldest file (seconds since 1970; 0: there is none), or that is
// unknown: then upstream's may be another project that was registered later under the name.
bool name_owner_is_younger(int64_t ours, const struct upstream_answer *a);

// Whether upstream's project may be another one that was registered under the name after ours.
enum name_age {
	NAME_AGE_OLDER,         // no: upstream has an older file, there is none of ours, or a name rule says so
	NAME_AGE_MAYBE_YOUNGER, // unknown: the page has no upload times, or our file's time is before all wheels
	NAME_AGE_YOUNGER,       // all of upstream's files are younger than our oldest
};
// Compares upstream's answer with our oldest file in the catalog. Errors of catalog.h. Any thread that may use c.
int name_owner_find_age(const struct upstreams *u, struct catalog *c, const struct upstream_answer *a,
	enum name_age *out, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// What the operator says about files of upstreams beside the rules of the configuration. A hold: nothing that was
// uploaded after an instant is offered. A waiver: a project, or a version of it, is offered until a time in spite of
// holds, of its age, and of the record of a block list that it names. Each is a record of the state, FOLDER/ID
// (lib/place/record.h), which is created whole and never changes; its end removes it. Records are plain values. Any
// thread; any number of processes. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/format/jsondoc.h"

enum { HOLD_ID = 15 }; // bytes of "waiver-3f9a0c1b", at most

struct hold {
	const char *id;
	const char *upstream; // NULL: all
	const char *reason, *who;
	int64_t after, made; // seconds since 1970
};

struct waiver {
	const char *id;
	const char *project;  // normal form
	const char *version;  // NULL: all
	const char *upstream; // NULL: all
	const char *record;   // it lifts this record of a block list too; NULL: none
	const char *reason, *who;
	int64_t until; // the last second of its time, since 1970
	int64_t made;
	const char *specifier; // "==VERSION"; NULL: all. Made of version when it is read
};

// All that there are, also waivers whose time is over.
struct holds {
	struct hold *hold; // from the earliest `after` on
	size_t holds;
	struct waiver *waiver; // sorted by project
	size_t waivers;
	struct arena text;
};

// A missing folder has none. ERR_INVALID: a record is damaged; then no rule may be forgotten, so nothing is returned.
// The caller releases *out after success.
int holds_read(const char *folder, struct holds *out, struct err *e) MUST_CHECK;
void holds_release(struct holds *h); // for CLEANUP; zeros are allowed
// A number that differs after each record that was made or removed. 0: there is no folder.
int holds_mark(const char *folder, uint64_t *mark, struct err *e) MUST_CHECK;

// Make a record. id[] becomes its name. ERR_LIMIT: there are LIMIT_HOLDS, or the reason is too long.
int holds_add(const char *folder, const struct hold *h, char id[HOLD_ID + 1], struct err *e) MUST_CHECK;
int holds_waive(const char *folder, const struct waiver *w, char id[HOLD_ID + 1], struct err *e) MUST_CHECK;
// 1: removed; 0: there was none of this name.
int holds_end(const char *folder, const char *id, struct err *e) MUST_CHECK;

// The first waiver of a project (normal form), and the number of all of it. Borrowed.
const struct waiver *holds_waivers_of(const struct holds *h, const char *project, size_t *count);
// {"holds": [{"id", "after", "upstream" (null: all), "reason", "by"?, "made"}, …], "waivers": [{"id", "project",
// "version", "until", "upstream", "record" (these null: all, or none), "reason", "by"?, "made"}, …]}. The caller frees
// it.
struct jsondoc *holds_json(const struct holds *h, bool has_names);

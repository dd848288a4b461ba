// SPDX-License-Identifier: Apache-2.0
// Whether a file of an upstream may be used yet. All that shows, sends or counts such a file asks this one decision, so
// that every way to a file has the same answer.
//
// The first of these rules that hides the file is the reason: a line of `deny`, of [server] before that of the
// upstream; a record of a block list, unless a line of `allow` has the version; a hold; its age. A waiver lifts holds
// and age, and the record that it names. Age counts from the upload time, or, where the page has none, from when the
// file was first seen here. With a cooldown or a hold a file whose time is yet to come is hidden until then. Files of
// the store are not judged here.
//
// Pure: the caller says what time it is. Any thread. What is borrowed lives as long as the rules.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/advisories/advisories.h"
#include "lib/base/buf.h"
#include "lib/domain/text/requirement.h"
#include "lib/state/upstream/holds.h"

enum offering_rule { // in the order of precedence
	OFFERING_DENY,
	OFFERING_RECORD,
	OFFERING_HOLD,
	OFFERING_AGE,
	OFFERING_RULE_COUNT,
};
extern const char *const offering_rule_name[OFFERING_RULE_COUNT]; // "deny", "block", "hold", "cooldown"

// [upstream] cooldown-unknown: from when a file without an upload time ages.
enum offering_unknown {
	OFFERING_FIRST_SEEN,
	OFFERING_HIDE,  // it never is of age
	OFFERING_ALLOW, // it is
	OFFERING_UNKNOWN_COUNT,
};
extern const char *const offering_unknown_name[OFFERING_UNKNOWN_COUNT];

enum { OFFERING_OLDEST = 788918400 }; // 1995: an earlier upload time is none, because there was no Python package index

// Of one upstream. Borrowed. All zero, but for the name and holds: all files are offered.
struct offering_rules {
	const char *upstream;
	int64_t cooldown;   // seconds; 0: none
	const char *exempt; // projects without cooldown, for name_list_has(); NULL: none
	enum offering_unknown unknown;
	const struct requirements *denied; // [server] deny, of which lines for a platform mean none of these files; NULL: none
	const struct requirements *deny; // [upstream] deny; NULL: none
	const struct requirements *allow; // [upstream] allow; NULL: none
	const struct advisories *lists;   // NULL: none is for this upstream
	const struct holds *holds;
	const char *contact; // [server] contact; NULL: none
};
// Whether there is no rule, and no waiver, whose end is to be noticed: then nothing is to be judged.
bool offering_rules_are_none(const struct offering_rules *r);

// The rules as they are for the files of one project.
struct offering_project {
	const struct offering_rules *rules;
	int64_t now;
	int64_t cooldown;        // 0: none, or the project is exempt
	const struct hold *hold; // with the earliest time; NULL: none
	const struct waiver *waiver;
	size_t waivers;
	const struct requirement *denied, *deny, *allow;
	size_t denieds, denies, allows;
	const char *blocked; // the project, if a record is about it; else NULL
};
// project: in normal form, borrowed; now: seconds since 1970.
void offering_project_init(struct offering_project *p, const struct offering_rules *r, const char *project, int64_t now);
// Whether no file of the project is ever offered: a line of `deny`, or records, have all versions.
bool offering_is_blocked(const struct offering_project *p);
// Whether the version of a file is looked at.
bool offering_needs_version(const struct offering_project *p);

// What lists and waivers say of a version, whatever the age of its files.
struct offering_version {
	const struct requirement *deny;
	bool is_recorded;       // a record hides it,
	struct advisory record; // of those the worst one
	const struct waiver *waiver; // of holds and age: the one that lasts longest; NULL: none
	const struct waiver *lifts;  // as in struct offering
};
// version NULL: unknown. Then each line of `deny`, and each record, of the project has it, and no `allow` and no waiver
// of a version.
void offering_look_up(const struct offering_project *p, const struct version *version, struct offering_version *out);

struct offering_file {
	const struct offering_version *version; // NULL: it is not looked at
	int64_t uploaded; // seconds since 1970; before OFFERING_OLDEST: unknown
	int64_t seen;     // when it was first seen here; 0: never
};

struct offering {
	bool is_offered;
	unsigned hides; // 1 << enum offering_rule: all that hide it
	int64_t next;   // when is_offered changes, if no rule does; 0: never
	// Why, and what the words need.
	const struct offering_rules *rules;
	const struct requirement *deny;
	struct advisory record; // if OFFERING_RECORD hides it: the worst one
	const struct hold *hold;
	const struct waiver *waiver; // that lifts a hold or the age; NULL: none
	const struct waiver *lifts;  // the first to end of those that lift a record; NULL: none
	int64_t from;                // since or until when its age hides it; 0: it does not; INT64_MAX: always
};
void offering_judge(const struct offering_project *p, const struct offering_file *f, struct offering *out);

// The first rule that hides it. Not of a file that is offered.
enum offering_rule offering_first_rule(const struct offering *o);
// Appends what a line of `deny` says; contact NULL: nobody is to be asked.
void offering_write_deny(const struct requirement *line, const char *contact, struct buf *out);
// Appends what the rule says, in one line: "cooling until 2026-12-05T06:00:00Z (upstream pypi, cooldown 7d)".
void offering_write(const struct offering *o, enum offering_rule rule, struct buf *out);
// Appends what to change, if the rule is to be another one: "deny.list:3", "all.zip", the id of a hold, "cooldown of
// upstream pypi". Without folders.
void offering_source(const struct offering *o, enum offering_rule rule, struct buf *out);

// SPDX-License-Identifier: Apache-2.0
// What a promotion or a demotion is asked for, and the answer of these and of a rollback: a row for each file. One
// thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/format/digest.h"
#include "lib/state/access/audit.h"
#include "lib/state/views/membership.h"

struct hook_queue;

// Whether the sender may promote files of this project on this platform. What it must not promote is as if it were not
// there: no row and no message names it.
typedef bool promote_may_fn(void *ctx, const char *platform, const char *project);

// What a promotion or a demotion is asked for. All of it is borrowed for the call.
struct promote_request {
	const char *to;
	const char *from;          // must be the view's own `from`; NULL: that
	const char *const *select; // PROJECT, PROJECT==VERSION (PEP 440) or the name or path of a file; none: all files
	size_t selects;
	const struct evidence *evidence; // given with the request, in any order; kept even if it allows nothing
	size_t evidences;
	const char *evidence_views; // globs of the views for which the given evidence counts
	const char *reason;         // "": none
	const char *override;       // the reason of an override; NULL: none
	const char *by, *address;   // who, and from where ("": on the store's machine)
	promote_may_fn *may;        // NULL: everything
	void *may_ctx;
	struct hook_queue *hooks; // of [view] on-change, for the given evidence that is new; NULL: none are run
	unsigned cpu_ms;          // that the decision may compute; 0: no limit
	unsigned catalog_ms;      // for which it may read the catalog; 0: no limit
	bool all_or_nothing, dry_run;
	bool newest; // older versions of what is selected are not looked at
};

enum promote_result {
	PROMOTE_DONE,
	PROMOTE_ALREADY, // the view has it
	PROMOTE_REFUSED,
	PROMOTE_HELD, // it could be promoted, but all-or-nothing and another file is refused, or not taken of its version
	PROMOTE_LEFT, // a demotion, a rollback or retention took it out; it comes back only if its version or file is named
	PROMOTE_OVERTAKEN, // it would be refused, but the view has a newer version in its place
	PROMOTE_ENDED,     // it left the view: by a demotion or a rollback
	PROMOTE_RESULT_COUNT,
};
// "done", "already", "refused", "held", "left", "overtaken", "ended"
extern const char *const promote_result_name[PROMOTE_RESULT_COUNT];

struct promote_row {
	const char *platform, *project, *version, *filename;
	uint8_t sha256[SHA256_SIZE];
	enum promote_result result;
	// Of a file that was tested as another build: as which; of a refusal: cell, kind and what is wrong; of a file
	// that left: how; after a rollback: why no page shows the file; of one that a demotion takes out: which member
	// pip takes in its place where no tests allow it; else "".
	const char *reason;
	const struct membership_tested *tested; // the builds that evidence is about in its place; usually none
	size_t testeds;
	bool is_override; // an override stands in for evidence
	bool is_repeated; // what has overtaken it was in the view before, so that an earlier answer told of it
};

struct promote_answer {
	struct promote_row *row; // by project, version key, file name, platform
	size_t rows, room;                  // the rows are in the text
	size_t count[PROMOTE_RESULT_COUNT]; // of the rows
	int64_t generation;                 // the new one; else the newest
	struct arena text;
};

void promote_answer_release(struct promote_answer *a); // for CLEANUP
// The answer as JSON: {"view", "generation", "dry_run", "counts": {"done", …, a number for each result}, "files":
// [{"platform", "project", "version", "filename", "sha256", "result", "reason", "override", "repeated",
// "tested": [{"sha256", "as"}]}]}.
void promote_write_json(const struct promote_answer *a, const char *view, bool dry_run, struct buf *out);

// Reads what promote_write_json() wrote. ERR_INVALID names the value that is wrong; ERR_LIMIT. The caller releases
// *out, also on an error.
int promote_answer_read(struct str json, struct promote_answer *out, struct err *e) MUST_CHECK;

// Adds a row: a copy of *row with strings of its own; NULL ones become "".
struct promote_row *promote_answer_add(struct promote_answer *a, const struct promote_row *row);
// Sets the result and the reason, which is copied.
void promote_answer_set(struct promote_answer *a, struct promote_row *row, enum promote_result result,
	struct str reason);
// Says in the row that other builds were tested in its place; they are copied.
void promote_answer_set_tested(struct promote_answer *a, struct promote_row *row, const struct membership_tested *tested,
	size_t testeds);
void promote_answer_count(struct promote_answer *a);
// Leaves out rows if there are more than `most`: first all that the view had before. The counts stay. Returns how many
// are left out.
size_t promote_answer_cut(struct promote_answer *a, size_t most);
// Leaves out rows of which earlier answers told: of those that left, and of those that were overtaken before, the last
// LIMIT_PROMOTE_LEFT stay. The counts stay.
void promote_answer_shorten(struct promote_answer *a);
// Forgets the rows.
void promote_answer_clear(struct promote_answer *a);
// Writes a line for each row that was promoted, refused, overtaken now or ended. action: "promote", "demote",
// "rollback". reason: of the request, for rows that have none.
int promote_answer_audit(const struct promote_answer *a, struct audit *audit, const char *action, const char *view,
	const char *by, const char *address, const char *reason, struct err *e) MUST_CHECK;

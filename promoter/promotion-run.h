// SPDX-License-Identifier: Apache-2.0
// What the parts of a promotion share: promote.c is the order of its steps, promotion-source.c finds the files of the
// source, promotion-others.c what other files make of one, demote.c has the ways back. One thread at a time.
#pragma once

#include "lib/state/views/membership.h"
#include "promoter/promote-answer.h"
#include "promoter/promote-select.h"
#include "promoter/wheel-tests.h"

// A file that the source shows; its row has the same index.
struct promotion_candidate {
	const struct platform *platform;
	const char *requires_python; // NULL: none
	struct str version_key;
	int64_t came;    // to the store, seconds since 1970
	bool is_yanked;
	bool is_older;   // a newer version is there in its place
	bool is_covered; // the last look at it found a file in a cell of another platform which pip takes in its place
};

// What one of the files lacks, and an override shall stand in for.
struct missing_evidence {
	const char *kind;
	struct promotion_cell cell;
	size_t row;
};

// A set of ids of records.
struct evidence_ids {
	uint8_t (*id)[SHA256_SIZE];
	size_t count, room;
	size_t sorted; // as many as there were when it was last sorted
};

struct promotion_run {
	const struct site *site;
	struct catalog *catalog;
	const struct promote_request *request;
	const struct config_view *config; // of the view
	struct promote_answer *answer;
	char *folder; // of memberships and evidence
	struct view source;
	struct promote_select select;
	struct evidence_search search;
	struct promotion_judge judge;
	int64_t cpu_end;     // clock_thread_ms() when the decision has taken too long,
	int64_t reading_end; // clock_ms() when reading for it has
	struct arena own; // of what stays however often it is tried
	// Of this try.
	int64_t generation; // on which it decides
	bool is_settled;    // no row changes any more because of another one
	struct promotion_candidate *candidate;
	size_t candidates, room;
	struct missing_evidence *lack;
	size_t lacks, lack_room;
	struct evidence_ids all; // the records on which the promoted files stand
	struct arena text;
	// Of the file that is judged.
	struct evidence_ids file;        // the records that were found
	struct membership_tested *build; // what these are about, unless it is the file's bytes
	size_t builds, build_room;
	bool has_override; // one was found
	bool has_failed;   // then why is the catalog's error
	struct err why;
};

// --- promotion-source.c ---

// Finds the view and its source, and reads the selection. ERR_NOT_FOUND, ERR_USAGE.
int promotion_find_source(struct promotion_run *run, struct err *e) MUST_CHECK;
// ERR_BUSY: the decision has computed for longer than the request allows.
int promotion_check_time(const struct promotion_run *run, struct err *e) MUST_CHECK;
int promotion_refuse_late(struct err *e); // the same error; returns -1
// Takes the name of a cell of another platform out of a reason, if the sender may not know of it.
void promotion_hide_cell(const struct promotion_run *run, const struct promote_row *row, struct buf *why);
// ERR_USAGE: a reason is too long, or has a control character. Nothing may be written before this is known.
int promotion_check_reason(const char *reason, struct err *e) MUST_CHECK;
// Notes the paths of the selection at which the catalog has no file, but has one of that name elsewhere on the
// platform.
int promotion_look_up_paths(const struct site *site, struct catalog *c, struct promote_select *select,
	struct err *e) MUST_CHECK;
// Whether a word of the selection names the row by its file or its version, and not only by its project.
bool promotion_names(const struct promotion_run *run, const struct promote_row *row);
// Adds a row and a candidate for each selected file that the source shows. ERR_USAGE: a word of the selection means
// none.
int promotion_collect(struct promotion_run *run, struct err *e) MUST_CHECK;

// --- promotion-others.c ---

// Whether pip takes another file of the view in this cell, by what the rows say now: one of the cell's platform that
// ranks better there, or that has the name of the row. For struct promotion_file.
struct promotion_rival {
	struct promotion_run *run;
	size_t row;
};
promotion_covers_fn promotion_rival_covers;
// Says in each row that is in the view which other platform's file of its name keeps it from the view as a whole.
void promotion_mark_twins(struct promotion_run *run);
// Leaves out the files of which a newer version is there, for --newest. What is named stays.
void promotion_keep_newest(struct promotion_run *run);
// Makes PROMOTE_OVERTAKEN of the refused rows in whose cells the view has, or takes, a newer version that came no
// earlier. With all_or_nothing no row stays PROMOTE_DONE of whose version another one has left or is overtaken. For
// rows that are decided.
void promotion_mark_overtaken(struct promotion_run *run);
// Adds a refused row for each further file of the versions that would be promoted, or are named, which a view behind
// the source shows and the next one of the chain has not taken. For rows that are decided.
int promotion_add_chain(struct promotion_run *run, struct err *e) MUST_CHECK;

// --- promote.c ---

// Reads what other writers, also of other hosts, have added to the view's membership. ERR_INVALID: it is damaged.
int promotion_refresh(const char *folder, struct catalog *c, const char *view, struct err *e) MUST_CHECK;
// The view's newest generation. ERR_INVALID: its membership is damaged.
int promotion_generation(struct catalog *c, const char *view, int64_t *generation, struct err *e) MUST_CHECK;

// A change of a membership, as its rows say: those that are PROMOTE_DONE are added, those that are PROMOTE_ENDED end.
struct promotion_step {
	const char *folder, *view;
	int64_t generation; // on which the caller decided
	const char *action, *by, *address, *reason;
	const struct evidence_ids *evidence; // NULL: none
};
// Writes the next generation, and sets answer->generation. ERR_CONFLICT as membership_append().
int promotion_step_write(const struct promotion_step *step, struct catalog *c, struct promote_answer *answer,
	struct err *e) MUST_CHECK;
// Decides and writes by calling fn. On its ERR_CONFLICT another writer was faster, and it is called anew.
typedef int promotion_try_fn(void *ctx, struct err *e);
int promotion_try(promotion_try_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// SPDX-License-Identifier: Apache-2.0
// What the parts of a promotion share: promote.c is the order of its steps, promotion-source.c finds the files of the
// source, promotion-rival.c what pip takes in other platforms' cells, promotion-chain.c those that the views behind it
// hold back, promotion-newer.c those that newer versions overtake, promotion-write.c writes generations (for demotions
// and rollbacks too). One thread at a time.
#pragma once

#include "promoter/promote-answer.h"
#include "promoter/promote-evidence.h"
#include "promoter/promote-request.h"
#include "promoter/promote-select.h"
#include "lib/state/views/membership.h"
#include "lib/view/view.h"

// How often a generation is tried anew. Each time another writer was faster, so that work goes on in any case.
enum { PROMOTION_TRIES = 1000 };

// A file that the source shows; its row has the same index.
struct promotion_candidate {
	const struct platform *platform;
	const char *requires_python; // NULL: none
	struct str version_key;
	int64_t came;  // to the store, seconds since 1970
	bool is_older; // a newer version is there in its place
	bool is_covered; // the last look at it found a file in a cell of another platform which pip takes in its place
};

// What one of the files lacks, and an override shall stand in for.
struct promotion_lack {
	const char *kind;
	struct promotion_cell cell;
	size_t row;
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
	struct evidence *given; // the records of the request, in the order of evidence_compare(); they are borrowed
	struct promote_evidence evidence;
	struct promotion_judge judge;
	int64_t generation; // on which this try decides
	int64_t cpu_end;    // clock_thread_ms() when the decision has taken too long
	bool is_settled;    // no row changes any more because of another one
	struct promotion_candidate *candidate;
	size_t candidates, room;
	struct promotion_lack *lack;
	size_t lacks, lack_room;
};

// The view of the configuration with this name, borrowed. ERR_NOT_FOUND: there is none; ERR_USAGE: it has no `from`.
const struct config_view *promotion_run_view(const struct config *c, const char *name, struct err *e) MUST_CHECK;
// Finds the view and its source, and reads the selection. ERR_NOT_FOUND, ERR_USAGE. *run is to be released in any case.
int promotion_run_init(struct promotion_run *run, const struct site *site, struct catalog *c,
	const struct promote_request *r, struct promote_answer *out, struct err *e) MUST_CHECK;
void promotion_run_release(struct promotion_run *run); // for CLEANUP
// ERR_USAGE: a reason is too long, or has a control character. Nothing may be written before this is known.
int promotion_run_check_reason(const char *reason, struct err *e) MUST_CHECK;
// Reads what other writers, also of other hosts, have added to the view's membership. ERR_INVALID: it is damaged.
int promotion_run_refresh(const char *folder, struct catalog *c, const char *view, struct err *e) MUST_CHECK;
// The view's newest generation. ERR_INVALID: its membership is damaged.
int promotion_run_generation(struct catalog *c, const char *view, int64_t *generation, struct err *e) MUST_CHECK;
// ERR_BUSY: the decision has computed for longer than the request allows.
int promotion_run_check_time(const struct promotion_run *run, struct err *e) MUST_CHECK;
// Notes the paths of the selection at which the catalog has no file, but has one of that name elsewhere on the platform.
int promotion_run_look_up_paths(const struct site *site, struct catalog *c, struct promote_select *select,
	struct err *e) MUST_CHECK;
// Whether a word of the selection names the row by its file or its version, and not only by its project.
bool promotion_run_names(const struct promotion_run *run, const struct promote_row *row);
// Adds a row and a candidate for each selected file that the source shows. ERR_USAGE: a word of the selection means none.
int promotion_run_collect(struct promotion_run *run, struct err *e) MUST_CHECK;
// Whether pip takes another file of the view in this cell, by what the rows say now: one of the cell's platform that ranks
// better there, or that has the name of the row, so that the view as a whole has neither. For struct promotion_file.
struct promotion_rival {
	struct promotion_run *run;
	size_t row;
};
needed_cells_covers_fn promotion_rival_covers;
// Says in each row that is in the view which other platform's file of its name keeps it from the view as a whole.
void promotion_run_mark_twins(struct promotion_run *run);
// Leaves out the files of which a newer version is there, for --newest. What is named stays.
void promotion_run_keep_newest(struct promotion_run *run);
// Makes PROMOTE_OVERTAKEN of the refused rows in whose cells the view has, or takes, a newer version that came no earlier.
// For rows that are decided.
void promotion_run_mark_overtaken(struct promotion_run *run);
// Adds a refused row for each further file of the versions that would be promoted, or are named, which a view behind the
// source shows and the next one of the chain has not taken. For rows that are decided.
int promotion_run_add_chain(struct promotion_run *run, struct err *e) MUST_CHECK;
// Takes the name of a cell of another platform out of a reason, if the sender may not know of it.
void promotion_run_hide_cell(const struct promotion_run *run, const struct promote_row *row, struct buf *why);

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

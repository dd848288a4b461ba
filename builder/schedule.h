// SPDX-License-Identifier: Apache-2.0
// Which rows a build takes and in which order, and what the end of one row means for the others. A task is one version
// of a project: its Pythons are tried one after the other, in the order of the environments, since the wheel of one may
// install on the next. Tasks do not wait for each other; rows whose build requirements are missing wait for these.
// Pure; one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/digest.h"
#include "builder/missing/ci-matrix.h"
#include "builder/missing/missing.h"

enum schedule_state {
	SCHEDULE_LEFT_OUT, // not taken: the options, another shard, a failure whose pause is not over
	SCHEDULE_READY,    // to be tried
	SCHEDULE_AWAITING, // a build requirement of it is missing; taken once that one is there
	SCHEDULE_RUNNING,
	SCHEDULE_GOOD,      // built and published
	SCHEDULE_BAD,       // tried, without a wheel
	SCHEDULE_COVERED,   // the wheel of another Python installs there
	SCHEDULE_ELSEWHERE, // no longer missing: another builder or upstream published a wheel, or it is not wanted now
	SCHEDULE_INTERRUPTED, // the build was stopped while it ran
	SCHEDULE_WAITING,     // the index or a file host was out of reach: the next run tries it
	SCHEDULE_STATE_COUNT,
};
extern const char *const schedule_state_name[SCHEDULE_STATE_COUNT]; // "left-out", "ready", …

enum schedule_retry {
	SCHEDULE_RETRY_NONE,
	SCHEDULE_RETRY_FAILED,    // all failures but those by time
	SCHEDULE_RETRY_TIMED_OUT, // only those
	SCHEDULE_RETRY_ALL,       // all failures, and rows that await build requirements
};

struct schedule_options {
	const char *const *python; // none: all
	size_t pythons;
	const char *const *project; // in normal form; none: all
	size_t projects;
	struct missing_shard shard; // 0 of 0: all
	enum schedule_retry retry;
	const struct machine *machine; // of the platform
	// "PROJECT VERSION" of what has ended with its builder before, sorted; NULL: none. It may end this one too, so
	// it comes last.
	const struct strset *interrupted;
	// The patch release of a Python of this builder, or one of PYTHON_CHECK_* (builder/step/sandbox.h); NULL: all
	// are unknown.
	int (*micro)(void *ctx, const char *python);
	// The recipe with which this builder would try the row (builder/step/attempt.h).
	void (*recipe)(void *ctx, const struct missing_row *row, char out[SHA256_HEX + 1]);
	void *ctx;
};

struct schedule_row {
	const struct missing_row *row; // borrowed
	enum schedule_state state;
	const char *why; // of the state, a sentence without a full stop; in the schedule's text, or constant
	struct environment *environment;
	size_t task;          // equal numbers: the same project and version
	bool was_tried;       // in this run
	bool was_awaiting;    // RUNNING: before that
	const char *awaiting; // names with blanks between; NULL: not known
	bool may_go;          // AWAITING: one of these names was built since
};

struct schedule {
	struct schedule_row *row; // in the order of trying
	size_t count, tasks;
	bool *is_busy; // by task
	struct environment *environment;
	size_t environments;
	struct schedule_options options; // borrowed
	struct arena text;
};

// What is to be done about a row that is missing, failed or awaiting, by the options: READY, AWAITING or LEFT_OUT.
// *why is constant, or in the text.
enum schedule_state schedule_judge(const struct schedule_options *options, const struct missing_row *row,
	struct arena *text, const char **why);

// Takes the rows that are missing, failed or awaiting. missing and options are borrowed until schedule_release().
// ERR_INVALID: not a Python version. The caller releases *out if this returns 0.
int schedule_init(struct schedule *out, const struct missing *missing, const struct schedule_options *options,
	struct err *e) MUST_CHECK;
void schedule_release(struct schedule *s); // for CLEANUP; all zero is fine

// The next row to try, which becomes RUNNING; NULL: none now.
struct schedule_row *schedule_next(struct schedule *s);
// Ends a running row, or puts it back as READY or AWAITING. why is copied. After GOOD, COVERED and ELSEWHERE the rows
// that await the project may go.
void schedule_end(struct schedule *s, struct schedule_row *r, enum schedule_state state, const char *why);
// The row awaits these projects (names with blanks between), as its attempt found; it ends as AWAITING. False if all of
// them are there meanwhile or no row of them is in the schedule; the caller ends it otherwise.
bool schedule_await(struct schedule *s, struct schedule_row *r, const char *names);
// The wheel of a row: the other rows of its task on which it installs become COVERED, unless they run. requires_python:
// NULL: none. Returns their number.
size_t schedule_cover(struct schedule *s, const struct schedule_row *r, const char *wheel, const char *requires_python);
// Adds the projects that have no wheel for this Python now, sorted. The caller releases *out.
void schedule_missing(const struct schedule *s, const char *python, struct strset *out);

// The number of rows in each state.
void schedule_count(const struct schedule *s, size_t count[SCHEDULE_STATE_COUNT]);
// Whether rows run.
bool schedule_is_running(const struct schedule *s);

// SPDX-License-Identifier: Apache-2.0
// The room in which the steps of one wheel run: a work folder with its log, and the foreign programs in it. It expands
// command templates, puts [build] wrap before them, gives them their environment and what is left of the time, and
// makes virtual environments. One thread at a time.
//
// In the folder: log; sdist/, the sdist; out/, the wheel; home/ and tmp/ (HOME, TMPDIR); cwd/, empty, the working
// folder; env-1, env-2, …, the virtual environments.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "builder/run/run-log.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/state/config/config.h"
#include "lib/state/results/results.h"

// What the templates are filled in with. Borrowed.
struct step_values {
	const char *platform, *python, *project, *version; // %p %v %n %r
	const char *index;                                 // %i
};

struct step_room {
	const struct config *config;
	struct step_values values;
	const atomic_bool *stop;
	int parent;         // the open work folder, which has the room's folder
	char *id;           // the name of the room's folder
	char *folder;       // %d: absolute
	char *output;       // %o
	char *sdist;        // %s; set by the caller, who gives it up; NULL: not yet
	char *wheel;        // %w; the same
	char *venv;         // %e: the newest virtual environment; NULL: none
	char *interpreter;  // %y
	char **environment; // "NAME=value", NULL at the end
	struct run_log *log;
	int64_t end_ms;       // clock_ms() at which the time is over
	uint64_t peak_memory; // bytes, of the largest program so far
	unsigned venvs;       // made so far
	// Why the last program ended, if that decides the result: RESULTS_TIMED_OUT, RESULTS_CRASHED, RESULTS_WAITING
	// or RESULTS_INTERRUPTED; otherwise RESULTS_RUNNING.
	enum results_result cause;
};

// Makes the folder `id` in the folder `work`. ERR_INVALID: a Python that is none; ERR_USAGE: no index; ERR_FULL, ERR_IO.
// The caller calls step_room_close whatever this returns.
int step_room_open(struct step_room *r, const struct config *config, const struct step_values *values, const char *work,
	const char *id, struct err *e) MUST_CHECK;
// Closes the log and removes the folder. A failure is only logged: the next attempt_clean removes it.
void step_room_close(struct step_room *r);

// Runs a template, and `more` words behind it; NULL: none. It has made a fresh virtual environment before if the
// template has %e. ERR_INVALID: it ended with an error; the message has the reason, in one line. Sets cause.
int step_room_run(struct step_room *r, const char *command, const struct strset *more, struct err *e) MUST_CHECK;
// The same with the newest virtual environment.
int step_room_run_again(struct step_room *r, const char *command, const struct strset *more, struct err *e) MUST_CHECK;
// Runs a script of ours with the environment's Python (in the newest virtual environment, if there is one). It gets
// what is left of the time, but no more than `seconds`. It is given the path of the file that it writes, then one
// argument. Appends the file, up to the limit of out.
int step_room_ask(struct step_room *r, const char *script, const char *argument, unsigned seconds, struct buf *out,
	struct err *e) MUST_CHECK;
// Writes a file of ours into the room, in place of what is there. ERR_FULL, ERR_IO.
int step_room_write(const struct step_room *r, const char *name, const char *text, struct err *e) MUST_CHECK;
// Appends a file of the room that foreign programs wrote, up to the limit of out. ERR_INVALID: it is no regular file;
// ERR_LIMIT, ERR_IO.
int step_room_read(const struct step_room *r, const char *name, struct buf *out, struct err *e) MUST_CHECK;
// Seconds that are left, at least 1.
uint64_t step_room_seconds(const struct step_room *r);

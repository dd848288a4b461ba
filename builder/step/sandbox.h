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

struct sandbox {
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

// Makes the folder `id` in the folder `work`. ERR_INVALID: not a Python version; ERR_USAGE: no index; ERR_FULL, ERR_IO.
// The caller calls sandbox_close whatever this returns.
int sandbox_open(struct sandbox *r, const struct config *config, const struct step_values *values, const char *work,
	const char *id, struct err *e) MUST_CHECK;
// Closes the log and removes the folder. A failure is only logged: the next attempt_clean removes it.
void sandbox_close(struct sandbox *r);

// Runs a template, and `more` words behind it; NULL: none. It has made a fresh virtual environment before if the
// template has %e. ERR_INVALID: it ended with an error; the message has the reason, in one line. Sets cause.
int sandbox_run(struct sandbox *r, const char *command, const struct strset *more, struct err *e) MUST_CHECK;
// The same with the newest virtual environment.
int sandbox_run_again(struct sandbox *r, const char *command, const struct strset *more, struct err *e) MUST_CHECK;
// Runs a script of ours with the environment's Python (in the newest virtual environment, if there is one). It gets
// what is left of the time, but no more than `seconds`. It is given the path of the file that it writes, then one
// argument. Appends the file, up to the limit of out.
int sandbox_ask(struct sandbox *r, const char *script, const char *argument, unsigned seconds, struct buf *out,
	struct err *e) MUST_CHECK;
// Writes a file of ours into the room, in place of what is there. ERR_FULL, ERR_IO.
int sandbox_write(const struct sandbox *r, const char *name, const char *text, struct err *e) MUST_CHECK;
// Appends a file of the room that foreign programs wrote, up to the limit of out. ERR_INVALID: it is no regular file;
// ERR_LIMIT, ERR_IO.
int sandbox_read(const struct sandbox *r, const char *name, struct buf *out, struct err *e) MUST_CHECK;
// Seconds that are left, at least 1.
uint64_t sandbox_seconds(const struct sandbox *r);

enum { PYTHON_CHECK_ABSENT = -1, PYTHON_CHECK_UNKNOWN = -2 };

// The patch release of a Python of this builder, 2 of 3.11.2: it is run once, as the steps of a wheel run it, behind
// [build] wrap. ABSENT only if it is certain that there is none: a Python, or a wrapper, that fails otherwise is
// UNKNOWN, for the attempts to report. work: the existing work folder, of which the caller has the lock.
int sandbox_python_micro(const struct config *config, const char *work, const char *platform, const char *python,
	const char *index);

// The environment of the foreign programs of one wheel: the variables that [build] environment lists, and those that
// keep pip and uv to the given index, without configuration and caches of the account. Any thread.

// In the folder: the path to which each `pip install` writes what it installs (PIP_REPORT).
#define STEP_ENVIRONMENT_REPORT "report.json"

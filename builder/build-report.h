// SPDX-License-Identifier: Apache-2.0
// What a build did, or would do: for people, and as JSON. Pure; one thread at a time.
//
//   {"platform", "index", "dry_run": bool, "stopped": reason or null, "unsent": results that no server has,
//    "totals": {state: n}, "rows": [{"platform", "python", "project", "version", "state", "why", "attempt": {"id",
//    "result", "step", "seconds", "wheel": file name or null} or null}]}
#pragma once

#include <stdbool.h>

#include "builder/schedule.h"
#include "builder/step/attempt.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/results/results.h"

// What is known of a row beside the schedule. All zero before its first attempt.
struct build_row {
	char id[RESULTS_ID + 1]; // of its last attempt; "": none
	enum results_result result;
	enum attempt_step step;
	int64_t begun_ms; // by clock_ms()
	double seconds;
	char *wheel;  // owned; NULL: none
	bool is_told; // COVERED: it is in the log
};

struct build_report {
	const char *platform;
	char *index; // owned
	struct machine machine;
	struct missing missing; // what the schedule is made of
	struct schedule schedule;
	struct build_row *row; // as many as in the schedule
	uint64_t unknown;      // rows of which upstream could not tell whether they are missing
	bool is_dry_run, is_interrupted;
	struct err stop; // why no more rows were taken; ERR_NONE: the end
	size_t unsent;
};

void build_report_release(struct build_report *r); // for CLEANUP; all zero is fine
// Append the report to out.
void build_report_text(const struct build_report *r, struct buf *out);
void build_report_json(const struct build_report *r, struct buf *out);
// 0 if every row that was taken is good or waits for the network, or none is taken; otherwise -1.
int build_report_verdict(const struct build_report *r, struct err *e) MUST_CHECK;

// The progress of a build on a terminal: rows done, those that run with their age and step, and those that failed. In a
// log: one line for each row that ended. One thread at a time.

struct build_display {
	bool is_on;     // stderr is a terminal
	unsigned lines; // on the screen
	int64_t drawn_ms;
};

void build_display_begin(struct build_display *d, bool wanted);
// Draws the state, at most four times a second.
void build_display_draw(struct build_display *d, const struct build_report *r);
// Clears what is drawn, before a line of the log is written.
void build_display_clear(struct build_display *d);

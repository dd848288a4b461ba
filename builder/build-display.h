// SPDX-License-Identifier: Apache-2.0
// The progress of a build on a terminal: rows done, those that run with their age and step, and those that failed. In a
// log: one line for each row that ended. One thread at a time.
#pragma once

#include <stdbool.h>

#include "builder/build-report.h"

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

// SPDX-License-Identifier: Apache-2.0
// Compares which wheels two releases of a project have: for each platform and each of its Pythons the wheel that pip
// takes of each, so that what the second one lost is seen. One thread at a time.
#pragma once

#include <stddef.h>

#include "lib/base/arena.h"
#include "auditor/compare/report-sheet.h"
#include "lib/domain/machine/profile.h"
#include "lib/format/jsondoc.h"

// A wheel of a release.
struct release_file {
	const char *filename;
	const char *requires_python; // NULL: none
	bool is_yanked;
};

// A release on one platform.
struct release_files {
	const struct release_file *file;
	size_t count;
};

enum release_state { RELEASE_LOST, RELEASE_WON, RELEASE_KEPT, RELEASE_STATE_COUNT };
extern const char *const release_state_name[RELEASE_STATE_COUNT]; // "lost", "won", "kept"

struct release_cell {
	const char *platform, *python;
	enum release_state state;
	const char *a, *b; // the wheels; NULL: none
};

struct release_compare {
	const char *label[2];      // as the client named them
	size_t files[2];           // wheels on all platforms
	struct release_cell *cell; // owned; in the order of the platforms
	size_t cells, room, count[RELEASE_STATE_COUNT];
	struct arena text;
};

// a, b: as the client named the releases; borrowed until the end.
void release_compare_begin(struct release_compare *r, const char *a, const char *b);
// Adds the cells of a platform: one for each Python of its profile for which a release has a wheel. profile NULL, or
// unknown: one for each Python tag of the wheels. platform NULL: for each of their platform tags.
void release_compare_platform(struct release_compare *r, const char *platform, const struct profile *profile,
	const struct release_files files[2]);
void release_compare_release(struct release_compare *r); // for CLEANUP

// {"a", "b": {"name", "wheels"}, "lost", "won", "kept": numbers, "cells": [{"platform", "python", "state", "a", "b"}]}.
// The caller frees it.
struct jsondoc *release_compare_json(const struct release_compare *r);
// Cells that were kept are folded into a number. The caller releases *out, which starts as zeros.
void release_compare_sheet(const struct release_compare *r, struct report_sheet *out);

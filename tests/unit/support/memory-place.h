// SPDX-License-Identifier: Apache-2.0
// A place in memory, whose time, order and failures are under a test's control. No links; it tells nothing of changes.
// One thread.
#pragma once

#include "lib/place/place.h"

enum memory_fate {
	MEMORY_GOES_ON,
	MEMORY_FAILS, // nothing is done
	MEMORY_LOSES, // it is done, but the answer is an error
};

struct memory_control {
	// Called before each operation that reads or changes something, with its name in place.h and that of the file.
	// It may use the place, as another process would. NULL: all goes on.
	enum memory_fate (*before)(void *ctx, const char *operation, const char *name);
	void *ctx;
	enum err_kind kind; // of failures
	int64_t now_ns;     // the time of what changes
	uint64_t room;      // bytes that are free; UINT64_MAX: no end
	// Its state, for tests to read.
	unsigned operations, leftovers;
};

// control is borrowed.
struct place *memory_place_new(struct memory_control *control);
// The machine ends: names that were not synced are as they were, and all writers are dead.
void memory_place_crash(struct place *p);

// SPDX-License-Identifier: Apache-2.0
// What of a lock an installer takes in one environment. Pure; any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/lock/lock.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/marker.h"

// Sets the micro versions of the Python on which each package is wanted: bit n of micros[i] is x.y.n for
// lock->package[i]. What the project, its groups and its extras of the choice want counts, and in uv.lock what these
// reach by dependencies whose markers hold; where it is not known, a package counts. The errors of marker_micros().
int lock_wants(const struct lock *lock, const struct machine *machine, const struct python *python,
	const struct marker_choice *choice, uint64_t *micros, struct err *e) MUST_CHECK;

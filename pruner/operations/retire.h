// SPDX-License-Identifier: Apache-2.0
// Taking a whole platform out of use: it is frozen, so that nobody fills it any more, and everything on it is unlisted. Its
// bytes go by a purge (pruner/operations/purge.h), after the grace. The run of its tombstones is "retire-PLATFORM".
#pragma once

#include "pruner/operations/operation.h"

struct retire_options {
	const char *reason; // "" for none
	bool is_dry;        // nothing is changed: what would be is told
};

// Done again where it was cut off, and for what came meanwhile. ERR_BUSY where the platform is frozen for another reason.
// What was removed by hand stays as it is. The caller ends the errand.
int retire(struct operation *x, const struct platform *p, const struct retire_options *options,
	struct err *e) MUST_CHECK;

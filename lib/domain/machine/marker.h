// SPDX-License-Identifier: Apache-2.0
// Environment markers of requirements (dependency specifiers, PEP 508), such as
// python_version < "3.12" and platform_machine == "aarch64". They are evaluated for the Python and the machine that the
// caller names, as packaging 26 evaluates them. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/machine/environment.h"

// Sets *micros to the micro releases on which the marker holds: of a Python 3.11, bit n stands for 3.11.n. There are
// SPECIFIER_MICROS bits. All bits are equal unless the marker has python_full_version or implementation_version.
// platform_release and platform_version are unknown and therefore empty, and so is implementation_version of a PyPy.
// extra is empty, and extras and dependency_groups have no members.
//
// ERR_INVALID: the text is no marker, or compares what cannot be compared; the message says why. ERR_LIMIT: it is
// longer than LIMIT_MARKER, or its parentheses are nested deeper than LIMIT_MARKER_DEPTH.
int marker_micros(struct str marker, const struct machine *machine, const struct python *python, uint64_t *micros,
	struct err *e) MUST_CHECK;
// Which extras and dependency groups are asked for. Names of extras are compared in normal form, of groups as written.
struct marker_choice {
	bool all_extras, all_groups; // whatever a marker says of them holds
	const char *const *extra, *const *group;
	size_t extras, groups;
};
// The same with a choice, which NULL is not: a marker of a lock file asks for extras (PEP 751). What uv writes for
// extras that exclude each other ("extra-3-foo-cpu") holds: which of them is taken, only the installation knows.
int marker_micros_chosen(struct str marker, const struct machine *machine, const struct python *python,
	const struct marker_choice *choice, uint64_t *micros, struct err *e) MUST_CHECK;
// Checks that the text is a marker. The same errors.
int marker_check(struct str marker, struct err *e) MUST_CHECK;
